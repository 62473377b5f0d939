/**
 * What changed between two definitions of a tool, as a person reads it in a review: texts line by line, parameters one by one,
 * everything else by its path. All text comes out cleaned.
 */
import { canonicalJson, isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { cleanForPerson, oneLine } from "../text/clean.ts";
import { diffLines } from "./line-diff.ts";

export interface DefinitionChange {
  /** `description`, `parameter path`, `annotations.readOnlyHint`, … */
  readonly what: string;
  readonly kind: "added" | "removed" | "changed";
  /** Lines to print, each with its sign. */
  readonly lines: readonly string[];
}

const MAX_CHANGES = 200;
const MAX_VALUE = 300;

/** @param before `undefined` for a tool that is new, or whose old definition was not kept. */
export function diffDefinitions(
  before: JsonObject | undefined,
  after: JsonObject,
): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  for (const name of ["title", "description"])
    addText(changes, name, member(before, name), member(after, name));
  addParameters(changes, member(before, "inputSchema"), member(after, "inputSchema"));
  for (const name of ["outputSchema", "annotations", "icons"]) {
    addValue(changes, name, member(before, name), member(after, name));
  }
  return changes.slice(0, MAX_CHANGES);
}

/** What changed in a server's instructions. @param before `undefined` where they are new, or the old ones were not kept. */
export function diffInstructions(before: string | undefined, after: string): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  addText(changes, "instructions", before, after);
  return changes;
}

/** The changes as lines of text, for a terminal or a page. */
export function printChanges(changes: readonly DefinitionChange[]): string {
  return changes.flatMap(({ what, lines }) => [`${what}:`, ...lines.map((line) => `  ${line}`)]).join("\n");
}

function member(definition: JsonObject | undefined, name: string): JsonValue | undefined {
  return definition === undefined ? undefined : (ownProperty(definition, name) as JsonValue | undefined);
}

function kindOf(before: unknown, after: unknown): DefinitionChange["kind"] {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

function isSame(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return canonicalJson(before) === canonicalJson(after);
}

function addText(
  changes: DefinitionChange[],
  what: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): void {
  if (isSame(before, after)) return;
  const lines = diffLines(textOf(before), textOf(after));
  changes.push({ what, kind: kindOf(before, after), lines });
}

function textOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [];
  return cleanForPerson(typeof value === "string" ? value : JSON.stringify(value)).split("\n");
}

/** Parameters by name; whatever else changed in the schema by its path. */
function addParameters(
  changes: DefinitionChange[],
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): void {
  if (isSame(before, after)) return;
  const old = readParameters(before);
  const now = readParameters(after);
  for (const name of new Set([...old.properties.keys(), ...now.properties.keys()])) {
    const was = old.properties.get(name);
    const is = now.properties.get(name);
    const wasRequired = old.required.has(name);
    const isRequired = now.required.has(name);
    if (isSame(was, is) && wasRequired === isRequired) continue;
    const what = `parameter ${oneLine(name, 100)}`;
    if (was === undefined || is === undefined) {
      const sign = was === undefined ? "+" : "-";
      const schema = is ?? was ?? null;
      changes.push({
        what,
        kind: kindOf(was, is),
        lines: [`${sign} ${describe(schema, was === undefined ? isRequired : wasRequired)}`],
      });
      continue;
    }
    const lines: string[] = [];
    if (wasRequired !== isRequired) lines.push(`${need(wasRequired)} → ${need(isRequired)}`);
    lines.push(...valueLines("", was, is, 0));
    changes.push({ what, kind: "changed", lines });
  }
  const rest = valueLines("", old.rest, now.rest, 0);
  if (rest.length > 0) changes.push({ what: "inputSchema", kind: kindOf(before, after), lines: rest });
}

interface Parameters {
  readonly properties: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<string>;
  readonly rest: JsonObject;
}

function readParameters(schema: JsonValue | undefined): Parameters {
  const object = isJsonObject(schema) ? schema : {};
  const properties = ownProperty(object, "properties");
  const required = ownProperty(object, "required");
  const rest = Object.fromEntries(
    Object.entries(object).filter(([name]) => name !== "properties" && name !== "required"),
  );
  return {
    properties: new Map(isJsonObject(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []),
    rest,
  };
}

function need(isRequired: boolean): string {
  return isRequired ? "required" : "optional";
}

function describe(schema: JsonValue, isRequired: boolean): string {
  const type = isJsonObject(schema) ? ownProperty(schema, "type") : undefined;
  const description = isJsonObject(schema) ? ownProperty(schema, "description") : undefined;
  const shownType = typeof type === "string" ? oneLine(type, 40) : "any";
  const shownText = typeof description === "string" ? `: ${oneLine(description, MAX_VALUE)}` : "";
  return `${shownType}, ${need(isRequired)}${shownText}`;
}

function addValue(
  changes: DefinitionChange[],
  what: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): void {
  if (isSame(before, after)) return;
  changes.push({ what, kind: kindOf(before, after), lines: valueLines("", before, after, 0) });
}

/** Objects are gone into, member by member; everything else is shown as a whole. */
function valueLines(
  path: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  depth: number,
): string[] {
  if (isSame(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after) && depth < 6) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => {
      const next = path === "" ? oneLine(name, 60) : `${path}.${oneLine(name, 60)}`;
      return valueLines(
        next,
        ownProperty(before, name) as JsonValue,
        ownProperty(after, name) as JsonValue,
        depth + 1,
      );
    });
  }
  const label = path === "" ? "" : `${path}: `;
  if (typeof before === "string" && typeof after === "string" && before.length + after.length > 80) {
    return diffLines(textOf(before), textOf(after)).map(
      (line) => `${line.slice(0, 2)}${label}${line.slice(2)}`,
    );
  }
  if (before === undefined) return [`+ ${label}${shown(after)}`];
  if (after === undefined) return [`- ${label}${shown(before)}`];
  return [`${label}${shown(before)} → ${shown(after)}`];
}

function shown(value: JsonValue | undefined): string {
  return oneLine(JSON.stringify(value) ?? "", MAX_VALUE);
}
