/**
 * Text to value: JSON with comments, trailing commas and an optional byte order mark (UTF-8). Size and depth are capped before
 * the recursive parser sees the text; duplicate keys and `__proto__` are errors, because two readers could take them
 * differently. Every value keeps its place, so that a later problem can name line and column.
 */
import { createScanner, findNodeAtLocation, parseTree, type Node, type ParseError } from "jsonc-parser";
import { keyMessages } from "../base/exact-json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { wrongKey, wrongValue, type ConfigPath, type Positions, type RawProblem } from "./problems.ts";

/** The largest configuration file: 1 MiB. */
export const MAX_CONFIG_BYTES = 1_048_576;

/** The deepest nesting of a configuration. */
export const MAX_CONFIG_DEPTH = 64;

export interface ParsedText {
  /** `undefined` where the text is not JSON. */
  readonly value: JsonValue | undefined;
  readonly problems: readonly SyntaxProblem[];
  readonly positions: Positions;
}

/** A problem of the text itself, at a known place. */
interface SyntaxProblem extends RawProblem {
  readonly line: number;
  readonly column: number;
}

/** Token kinds of jsonc-parser (its enum is a `const enum`, which isolated modules cannot read). */
const OPEN_TOKENS: readonly number[] = [1, 3];
const CLOSE_TOKENS: readonly number[] = [2, 4];
const END_OF_FILE = 17;

/** jsonc-parser's error codes as sentences with the fix. */
const SYNTAX_MESSAGES: Readonly<Record<number, string>> = {
  1: "this is no JSON value: text needs double quotes",
  2: "this is no JSON number",
  3: "a key in double quotes is expected here",
  4: "a value is expected here",
  5: "a colon is expected here",
  6: "a comma is expected here",
  7: "a closing `}` is expected here",
  8: "a closing `]` is expected here",
  9: "the configuration should end here: remove what follows",
  11: "this comment is never closed: add `*/`",
  12: 'this text is never closed: add `"`',
  13: "this number is not finished",
  14: "`\\u` needs four hexadecimal digits",
  15: "this escape is unknown: write `\\\\` for a backslash",
  16: "control characters must be written as escapes such as `\\n`",
};

/**
 * Decodes and parses a configuration. Never throws: whatever is wrong is in `problems`.
 *
 * @param bytes the file as it is, at most `MAX_CONFIG_BYTES`.
 */
export function parseConfigBytes(bytes: Uint8Array): ParsedText {
  if (bytes.length > MAX_CONFIG_BYTES) {
    return failedAtStart(`the file is larger than ${MAX_CONFIG_BYTES} bytes: is it a configuration?`);
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return failedAtStart("the file is UTF-16: save it as UTF-8");
  }
  try {
    return parseConfigText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return failedAtStart("the file is not UTF-8: save it as UTF-8");
  }
}

/** Parses the text of a configuration. Never throws: whatever is wrong is in `problems`. */
export function parseConfigText(text: string): ParsedText {
  const placeOf = createPlaces(text);
  // The mark is replaced by a space, so that offsets and columns stay those of the file.
  const json = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  const tooDeepAt = findTooDeep(json);
  if (tooDeepAt !== null) {
    const problem = wrongValue([], `nested more than ${MAX_CONFIG_DEPTH} levels deep`);
    return { value: undefined, problems: [{ ...problem, ...placeOf(tooDeepAt) }], positions: () => null };
  }
  const errors: ParseError[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const problems: SyntaxProblem[] = errors.map((error) => ({
    ...wrongValue([], SYNTAX_MESSAGES[error.error] ?? "this is not JSON"),
    ...placeOf(error.offset),
  }));
  if (root === undefined) {
    if (problems.length === 0)
      problems.push({ ...wrongValue([], "the file is empty: write `{}` at least"), line: 1, column: 1 });
    return { value: undefined, problems, positions: () => null };
  }
  const value = readNode(root, [], (path, offset, message) => {
    problems.push({ ...wrongKey(path, message), ...placeOf(offset) });
  });
  return { value, problems, positions: createPositions(root, placeOf) };
}

function failedAtStart(message: string): ParsedText {
  const problem = { ...wrongValue([], message), line: 1, column: 1 };
  return { value: undefined, problems: [problem], positions: () => null };
}

/** Offset of the first bracket that opens too deep, or `null`. */
function findTooDeep(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (OPEN_TOKENS.includes(token)) depth += 1;
    else if (CLOSE_TOKENS.includes(token)) depth -= 1;
    if (depth > MAX_CONFIG_DEPTH) return scanner.getTokenOffset();
  }
  return null;
}

function readNode(
  node: Node,
  path: ConfigPath,
  complain: (path: ConfigPath, offset: number, message: string) => void,
): JsonValue {
  if (node.type === "array") {
    return (node.children ?? []).map((child, index) => readNode(child, [...path, index], complain));
  }
  if (node.type !== "object") return node.value as JsonValue;
  const object: JsonObject = {};
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    const at = [...path, name];
    if (name === "__proto__") complain(at, key.offset, keyMessages.proto);
    else if (Object.hasOwn(object, name)) complain(at, key.offset, keyMessages.twice);
    else object[name] = readNode(value, at, complain);
  }
  return object;
}

function createPositions(
  root: Node,
  placeOf: (offset: number) => { line: number; column: number },
): Positions {
  return (path, at) => {
    // A key that is missing has no node: then the nearest object around it is pointed at.
    for (let length = path.length; length >= 0; length -= 1) {
      const node = findNodeAtLocation(root, path.slice(0, length));
      if (node === undefined) continue;
      const key = node.parent?.type === "property" ? node.parent.children?.[0] : undefined;
      const isKey = key !== undefined && (at === "key" || length < path.length);
      return placeOf(isKey ? key.offset : node.offset);
    }
    return null;
  };
}

/** A function that gives line and column of an offset; lines end with LF, CR LF or CR. */
function createPlaces(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
