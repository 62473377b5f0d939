/**
 * Takes one property out of a text with comments and trailing commas. `modify` of jsonc-parser is not used for this: it takes the
 * comments before the next property along, and leaves a comma behind where the only property had one.
 */
import { applyEdits, createScanner, findNodeAtLocation, parseTree, type Edit } from "jsonc-parser";

/** Token kind of a comma (jsonc-parser's enum is a `const enum`, which isolated modules cannot read). */
const COMMA = 5;

/** The text without the property at `path` and what stands behind it on its line; the text itself where there is none. */
export function removeProperty(text: string, path: readonly (string | number)[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root === undefined ? undefined : findNodeAtLocation(root, [...path])?.parent;
  const siblings = property?.parent?.children;
  if (property?.type !== "property" || siblings === undefined) return text;
  const edits: Edit[] = [];
  let end = property.offset + property.length;
  const comma = findComma(text, end);
  const before = siblings[siblings.indexOf(property) - 1];
  if (comma !== null) {
    end = comma + 1;
  } else if (before !== undefined) {
    // The last one goes: the comma behind the one before it goes too.
    const left = findComma(text, before.offset + before.length);
    if (left !== null) edits.push({ offset: left, length: 1, content: "" });
  }
  const [from, to] = widenToLine(text, property.offset, end);
  edits.push({ offset: from, length: to - from, content: "" });
  return applyEdits(text, edits);
}

/** Offset of the comma that is the next token behind `offset`, or `null`. */
function findComma(text: string, offset: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  const token: number = scanner.scan();
  return token === COMMA ? scanner.getTokenOffset() : null;
}

/** The whole line, with a comment behind it, where nothing else stands on it; otherwise only the blanks behind. */
function widenToLine(text: string, start: number, end: number): readonly [number, number] {
  const blanks = /[ \t]*$/.exec(text.slice(Math.max(0, start - 1_000), start))?.[0].length ?? 0;
  const lineStart = start - blanks;
  const isFirst = lineStart === 0 || /[\r\n]/.test(text[lineStart - 1] ?? "");
  const rest = /^[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(\r\n|\n|\r)/.exec(
    text.slice(end),
  );
  if (isFirst && rest !== null) return [lineStart, end + rest[0].length];
  return [start, end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0)];
}
