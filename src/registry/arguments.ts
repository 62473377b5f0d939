/**
 * Arguments as a model or a person gave them, made ready for one tool: read where they came as text, without `undefined`, with
 * the schema's defaults, and checked. What was repaired is told, because the repaired form is what is shown for approval and
 * sent (field case FC-61). Nothing is ever coerced: `"5"` is no integer.
 */
import { findInexact } from "../base/exact-json.ts";
import { isJsonObject, setMember, type JsonObject, type JsonValue } from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import type { CompiledSchema } from "../jsonschema/compile.ts";
import { pathOf, quote, type Issue } from "../jsonschema/issues.ts";
import { pointerTokens } from "../jsonschema/uri.ts";
import { collectDefaults, isRequiredAt, type MissingDefault } from "./argument-defaults.ts";
import { argumentsCopy, copyArguments, type CopiedArguments } from "./argument-copy.ts";
import { explainIssues } from "./argument-hint.ts";

export interface ArgumentsDefinition {
  /** As the server sent it (or the operator's override). */
  readonly inputSchema: JsonObject;
  readonly compiled: CompiledSchema;
}

export type ArgumentsVerdict =
  | {
      readonly ok: true;
      /** A copy of its own: what the caller does to the input later changes nothing. */
      readonly arguments: JsonObject;
      /** What was repaired or filled in, one short sentence each. */
      readonly notes: readonly string[];
    }
  | {
      readonly ok: false;
      readonly issues: readonly Issue[];
      /** The issues as lines for a model: `path: what is wrong, what is expected`. At most about 1,200 characters. */
      readonly hint: string;
    };

/** `argumentsVerdict` without a pause. */
export function checkArguments(definition: ArgumentsDefinition, input: unknown): ArgumentsVerdict {
  return atOnce(argumentsVerdict(definition, input));
}

/** Smaller arguments are read, copied and checked in well under a millisecond or two. */
const LARGE_TEXT = 65_536;
const LARGE_COUNT = 5_000;

/**
 * One slice per walk through large arguments, and per check that was dear; none for ordinary ones.
 *
 * @param input what came: an object, its JSON text, or nothing. Unknown; never changed.
 */
export function* argumentsVerdict(definition: ArgumentsDefinition, input: unknown): Sliced<ArgumentsVerdict> {
  const notes: string[] = [];
  const copied = yield* takenInput(input, notes);
  if (!copied.ok) return refuse([copied.issue]);
  const isLarge = copied.count > LARGE_COUNT;
  if (isLarge) yield;

  let given = copied.value;
  let defaults = collectDefaults(definition.inputSchema, given);
  const unfit = new Set<string>();
  let issues: readonly Issue[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const filled = withDefaults(given, defaults);
    const verdict = definition.compiled.validate(filled.value);
    if (verdict.ok) return { ok: true, arguments: filled.value, notes: [...notes, ...filled.notes] };
    // Where the steps run out over a repair, what was wrong before it is the better answer.
    if (verdict.kind === "budget") return refuse(round === 0 ? verdict.issues : issues);
    // Small arguments can be dear to check as well.
    if (isLarge || verdict.wasDear) yield;
    issues = verdict.issues;
    // A default that does not fit its own schema must not stand in the way of arguments that do.
    const known = unfit.size;
    for (const { path } of defaults) {
      if (issues.some((issue) => isWithin(issue.path, path))) unfit.add(pathOf(path));
    }
    const repaired = repair(definition.inputSchema, given, issues);
    if (unfit.size === known && repaired.notes.length === 0) break;
    given = repaired.value;
    notes.push(...repaired.notes);
    defaults = collectDefaults(definition.inputSchema, given).filter(({ path }) => !unfit.has(pathOf(path)));
  }
  if (defaults.length === 0) return refuse(issues);
  const without = definition.compiled.validate(given);
  if (without.ok) return { ok: true, arguments: given, notes };
  return refuse(without.kind === "budget" ? issues : without.issues);
}

/** Repairs can uncover each other; more often than this they go in circles. */
const MAX_ROUNDS = 4;

function isWithin(issuePath: string, path: readonly string[]): boolean {
  const pointer = pathOf(path);
  return issuePath === pointer || issuePath.startsWith(`${pointer}/`);
}

function refuse(issues: readonly Issue[]): ArgumentsVerdict {
  return { ok: false, issues, hint: explainIssues(issues) };
}

/** Reads `input` once: whatever it is, what is checked is what is sent. */
function* takenInput(input: unknown, notes: string[]): Sliced<CopiedArguments> {
  try {
    const read = readInput(input, notes);
    if (!read.ok) return read;
    if (typeof input === "string" && input.length > LARGE_TEXT) yield;
    return yield* argumentsCopy(read.value);
  } catch (error) {
    // A getter or a proxy of the program's own.
    const told = error instanceof Error ? error.message : "it throws";
    return notAnObject(`cannot be read: ${quote(told)}`);
  }
}

type ReadInput =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly issue: Issue };

/** One layer of text is read; what does not give an object then is an error, never an empty object. */
function readInput(input: unknown, notes: string[]): ReadInput {
  if (input === undefined || input === null || input === "") return { ok: true, value: {} };
  if (isJsonObject(input)) return { ok: true, value: input };
  if (typeof input !== "string")
    return notAnObject(Array.isArray(input) ? "is an array" : `is a ${typeof input}`);
  const text = input.trim();
  if (text === "") return { ok: true, value: {} };
  const json = withoutFence(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return notAnObject(`is text that is not JSON: ${quote(text)}`);
  }
  if (value === null) return { ok: true, value: {} };
  if (!isJsonObject(value)) return notAnObject("is JSON text of something else than an object");
  const inexact = findInexact(json, value);
  if (inexact !== undefined) return notAnObject(`is text that would be sent otherwise: ${inexact}`);
  notes.push("the arguments came as text and were read as JSON");
  return { ok: true, value };
}

/** What stands in a fenced block of Markdown; `text` itself where it is none. */
function withoutFence(text: string): string {
  const head = /^```(?:json|JSON)?[^\S\n]*\n/.exec(text)?.[0].length ?? 0;
  return head > 0 && text.endsWith("```") ? text.slice(head, Math.max(head, text.length - 3)) : text;
}

function notAnObject(message: string): Extract<ReadInput, { readonly ok: false }> {
  return {
    ok: false,
    issue: { path: "", keyword: "type", message, expected: "a JSON object with the arguments" },
  };
}

interface Filled {
  readonly value: JsonObject;
  readonly notes: readonly string[];
}

/** `given` itself where nothing is missing; otherwise a copy of the objects on the way, so that `given` stays as it is. */
function withDefaults(given: JsonObject, defaults: readonly MissingDefault[]): Filled {
  if (defaults.length === 0) return { value: given, notes: [] };
  const notes: string[] = [];
  let value = given;
  for (const { path, value: member } of defaults) {
    value = withMember(value, path, member);
    notes.push(`${quote(path.join("."))} was filled in with its default`);
  }
  return { value, notes };
}

function withMember(object: JsonObject, path: readonly string[], value: JsonValue): JsonObject {
  const [name = "", ...rest] = path;
  const copy = { ...object };
  if (rest.length === 0) {
    const own = typeof value === "object" && value !== null ? copyArguments({ value }) : undefined;
    setMember(copy, name, own?.ok === true ? (own.value["value"] ?? null) : value);
    return copy;
  }
  const inner = object[name];
  if (isJsonObject(inner)) setMember(copy, name, withMember(inner, rest, value));
  return copy;
}

/**
 * What the schema leaves no doubt about: `null` for an optional property that takes no null is as good as absent, and JSON text
 * where only an array or an object fits is that array or object.
 */
function repair(schema: JsonObject, value: JsonObject, issues: readonly Issue[]): Filled {
  const notes: string[] = [];
  let repaired = value;
  for (const issue of issues) {
    if (!["type", "enum", "const", "anyOf", "oneOf"].includes(issue.keyword)) continue;
    const path = pointerTokens(issue.path) ?? [];
    if (path.length === 0) continue;
    const found = getAt(repaired, path);
    const name = path.join(".");
    if (found === null && !isRequiredAt(schema, path)) {
      repaired = changed(repaired, value, path, undefined);
      notes.push(`${quote(name)} was null and is left out`);
    } else if (
      typeof found === "string" &&
      issue.keyword === "type" &&
      /^an (?:array|object)$/.test(issue.expected)
    ) {
      const read = readNested(found, issue.expected === "an array");
      if (read === undefined) continue;
      repaired = changed(repaired, value, path, read);
      notes.push(`${quote(name)} came as text and was read as JSON`);
    }
  }
  return { value: repaired, notes };
}

function changed(
  current: JsonObject,
  original: JsonObject,
  path: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const copied = current === original ? copyArguments(original) : undefined;
  const target = copied?.ok === true ? copied.value : current;
  setAt(target, path, value);
  return target;
}

function readNested(text: string, wantsArray: boolean): JsonValue | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (wantsArray ? !Array.isArray(value) : !isJsonObject(value)) return undefined;
  const copied = copyArguments({ value: value as JsonValue });
  return copied.ok ? copied.value["value"] : undefined;
}

function getAt(root: JsonValue, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isJsonObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

/** Sets, or with `undefined` removes, what `path` leads to; its parent must be there. */
function setAt(root: JsonObject, path: readonly string[], value: JsonValue | undefined): void {
  const last = path.at(-1);
  const parent = getAt(root, path.slice(0, -1));
  if (last === undefined || typeof parent !== "object" || parent === null) return;
  if (Array.isArray(parent)) {
    if (value !== undefined) parent[Number(last)] = value;
  } else if (value === undefined) {
    delete parent[last];
  } else {
    setMember(parent, last, value);
  }
}
