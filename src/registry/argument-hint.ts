/** Issues as lines that a model can act on. Never the schema, never more than it needs. */
import { quote, type Issue } from "../jsonschema/issues.ts";

const MAX_LINES = 8;
const MAX_LINE = 240;
const MAX_HINT = 1_200;

/** `path: what is wrong, what is expected (did you mean …)`, one line each. */
export function explainIssues(issues: readonly Issue[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const issue of issues) {
    const line = cut(explainIssue(issue), MAX_LINE);
    if (lines.includes(line)) continue;
    if (lines.length === MAX_LINES || length + line.length > MAX_HINT) {
      lines.push("…");
      break;
    }
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n");
}

function explainIssue(issue: Issue): string {
  const nearest = issue.nearest === undefined ? "" : ` (did you mean ${quote(issue.nearest)}?)`;
  return `${showPath(issue.path)}: ${issue.message}, expected ${issue.expected}${nearest}`;
}

/** The path with its odd characters escaped: property names come from strangers. */
function showPath(path: string): string {
  if (path === "") return "arguments";
  const escaped = JSON.stringify(path).slice(1, -1);
  return escaped.replaceAll(
    /[^\x20-\x7E\p{L}\p{N}\p{M}\p{P}\p{S}]|\p{Default_Ignorable_Code_Point}/gu,
    (character) => {
      return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    },
  );
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
