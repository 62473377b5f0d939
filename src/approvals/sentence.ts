/**
 * What a person is asked, in plain words: the operator's `say` with the arguments filled in, or a sentence made of the
 * tool's name and its arguments. Nothing that a server says about itself gets in here.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { valueAt } from "./argument-path.ts";
import { clip, inline, oneLine, type MakeVisible } from "./plain-text.ts";

export interface SentenceInput {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The operator's template: `Merge #{pullNumber} into {owner}/{repo}`; `{{` is a brace. */
  readonly say: string | null;
  readonly makeVisible: MakeVisible;
}

const MAX_VALUE = 80;
const MAX_SENTENCE = 600;
/** Arguments named in a sentence without a template; the rest is counted. */
const MAX_NAMED = 4;

/** One sentence, on one line, at most 600 characters. */
export function sentenceFor(input: SentenceInput): string {
  const text =
    input.say === null ? fromArguments(input) : fromTemplate(input.say, input.arguments, input.makeVisible);
  const { shown, isCut } = clip(text, MAX_SENTENCE);
  return isCut ? `${shown}…` : shown;
}

/** The server's own title of a tool, as a claim in quotes; `null` where it has none or it only repeats the name. */
export function titleClaim(
  server: string,
  tool: string,
  title: string | null,
  makeVisible: MakeVisible,
): string | null {
  if (title === null || title.trim() === "" || title === tool) return null;
  const { shown, isCut } = clip(oneLine(title.slice(0, 400), makeVisible), 100);
  return `${server} calls it “${shown}${isCut ? "…" : ""}”`;
}

function fromTemplate(template: string, args: JsonObject, makeVisible: MakeVisible): string {
  return template.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (whole, path: string | undefined) => {
    if (path === undefined) return whole.charAt(0);
    const value = valueAt(args, path.trim());
    return value === undefined
      ? `‹no ${oneLine(path.trim(), makeVisible)}›`
      : inline(value, MAX_VALUE, makeVisible);
  });
}

function fromArguments({ server, tool, arguments: args, makeVisible }: SentenceInput): string {
  const names = Object.keys(args);
  const name = `${oneLine(server, makeVisible)} ${oneLine(tool.slice(0, 128), makeVisible)}`;
  if (names.length === 0) return `${name}, without arguments`;
  const parts: string[] = [];
  const isRepository =
    isShort(args["owner"]) &&
    isShort(args["repo"]) &&
    Object.hasOwn(args, "owner") &&
    Object.hasOwn(args, "repo");
  if (isRepository)
    parts.push(
      `${inline(args["owner"], MAX_VALUE, makeVisible)}/${inline(args["repo"], MAX_VALUE, makeVisible)}`,
    );
  const others = isRepository ? names.filter((other) => other !== "owner" && other !== "repo") : names;
  // A tool with one argument says it all with the value; the name would only be noise.
  if (names.length === 1) parts.push(inline(args[names[0] ?? ""], MAX_VALUE, makeVisible));
  else {
    for (const other of others.slice(0, MAX_NAMED)) {
      parts.push(
        `${clip(oneLine(other.slice(0, 80), makeVisible), 40).shown} ${inline(args[other], MAX_VALUE / 2, makeVisible)}`,
      );
    }
    const rest = others.length - MAX_NAMED;
    if (rest > 0) parts.push(`and ${rest} more`);
  }
  return `${name}: ${parts.join(", ")}`;
}

function isShort(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_VALUE;
}
