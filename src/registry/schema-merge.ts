/**
 * Putting parts of a schema together for a subset that cannot keep them apart. Everything that fitted before fits afterwards: what
 * gets lost is strictness, which our own check keeps.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { CopiedObject } from "../jsonschema/bounds.ts";
import { clip } from "../text/clean.ts";

function without(schema: JsonObject, name: string): JsonObject {
  const { [name]: _dropped, ...rest } = schema;
  return rest;
}

const HARMLESS = ["$ref", "description", "title", "default", "$defs", "definitions"];

/** Whether a schema checks anything beside its reference and the keywords named. */
export function hasChecks(schema: CopiedObject, beside: readonly string[] = []): boolean {
  return Object.keys(schema).some((keyword) => !HARMLESS.includes(keyword) && !beside.includes(keyword));
}

export function typesOf(type: unknown): readonly string[] {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.map(String) : [];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function propertiesOf(schema: JsonObject): JsonObject {
  const { properties } = schema;
  return isJsonObject(properties) ? properties : {};
}

/** Adds a part that must hold as well (`allOf`): where both say something about the same, `into` has said it. */
export function mergeAll(into: JsonObject, part: JsonObject, notes: Set<string>): void {
  for (const name of Object.keys(part)) {
    const value = part[name];
    const before = into[name];
    if (value === undefined) continue;
    if (before === undefined) into[name] = value;
    else if (name === "properties") into[name] = { ...propertiesOf(part), ...propertiesOf(into) };
    else if (name === "required") into[name] = [...new Set([...textsOf(before), ...textsOf(value)])];
    else if (name !== "description" && name !== "title" && JSON.stringify(before) !== JSON.stringify(value)) {
      notes.add(`parts of \`allOf\` that meet in \`${name}\` are checked but not all shown`);
    }
  }
}

/** In strict mode what is optional is required and may be null; our own check takes null there as absent. */
export function orNull(schema: JsonObject): JsonObject {
  const { type } = schema;
  const hasValues = schema["enum"] !== undefined || schema["const"] !== undefined;
  if (typeof type === "string" && type !== "null" && !hasValues) return { ...schema, type: [type, "null"] };
  if (Array.isArray(type) && !hasValues)
    return type.includes("null") ? schema : { ...schema, type: [...type, "null"] };
  const { description, ...rest } = schema;
  const anyOf: JsonValue[] = [rest, { type: "null" }];
  return description === undefined ? { anyOf } : { description, anyOf };
}

export interface RootObject {
  readonly schema: JsonObject;
  /** What was simplified, if anything was. */
  readonly note?: string;
}

/**
 * An object schema without alternatives at its root: theirs become one set of properties, with words about what belongs together.
 * A property that only some of them name is offered in the form that those give it.
 */
export function asRootObject(exported: JsonObject, isStrict: boolean): RootObject {
  const notes = new Set<string>();
  let schema = { ...exported };
  for (const part of listOf(exported["allOf"])) mergeAll(schema, part, notes);
  const branches = [...listOf(exported["anyOf"]), ...listOf(exported["oneOf"])];
  const conditional = [exported["then"], exported["else"]].filter(isJsonObject);
  const added = uniteProperties([...branches, ...conditional]);
  schema["properties"] = { ...added, ...propertiesOf(schema) };
  if (branches.length > 0) {
    const sets = branches.map((branch) => textsOf(branch["required"]));
    const [first = [], ...others] = sets;
    const inAll = first.filter((name) => others.every((names) => names.includes(name)));
    schema["required"] = [...new Set([...textsOf(schema["required"]), ...inAll])];
    addWords(schema, sets);
  }
  const isSimplified = branches.length > 0 || conditional.length > 0 || notes.size > 0;
  for (const keyword of [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "enum",
    "const",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
  ]) {
    schema = without(schema, keyword);
  }
  const properties = propertiesOf(schema);
  const names = Object.keys(properties);
  const required = isStrict
    ? names
    : textsOf(schema["required"]).filter((name) => Object.hasOwn(properties, name));
  const { required: _before, ...rest } = schema;
  const result: JsonObject = { ...rest, type: "object", properties };
  if (required.length > 0 || isStrict) result["required"] = [...required];
  if (isStrict) result["additionalProperties"] = false;
  return isSimplified
    ? { schema: result, note: "alternatives at the root are offered as one set of properties" }
    : { schema: result };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The properties of all branches: one that differs between them may be any of its forms. */
function uniteProperties(branches: readonly JsonObject[]): JsonObject {
  const forms = new Map<string, JsonValue[]>();
  for (const branch of branches) {
    const properties = propertiesOf(branch);
    for (const name of Object.keys(properties)) {
      const form = properties[name] ?? {};
      const known = forms.get(name) ?? [];
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(form))) known.push(form);
      forms.set(name, known);
    }
  }
  return Object.fromEntries([...forms].map(([name, known]) => [name, uniteForms(known)]));
}

function uniteForms(forms: readonly JsonValue[]): JsonValue {
  const [only] = forms;
  if (forms.length === 1 && only !== undefined) return only;
  const values = forms.map((form) => (isJsonObject(form) ? valuesOf(form) : undefined));
  const [type] = new Set(forms.map((form) => (isJsonObject(form) ? form["type"] : undefined)));
  const isOneKind = forms.every(
    (form) => isJsonObject(form) && form["type"] === type && Object.keys(form).length <= 3,
  );
  if (isOneKind && values.every((list) => list !== undefined)) {
    return {
      ...(type === undefined ? {} : { type }),
      enum: [...new Set(values.flatMap((list) => list ?? []))],
    };
  }
  return { anyOf: [...forms] };
}

function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema["const"] !== undefined) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function addWords(schema: JsonObject, sets: readonly (readonly string[])[]): void {
  const texts = [...new Set(sets.map((names) => names.join(" and ")))].filter((names) => names !== "");
  if (texts.length < 2) return;
  const words = `(needs ${clip(texts.join(", or "), 300)})`;
  const before = schema["description"];
  schema["description"] = typeof before === "string" ? `${before} ${words}` : words;
}
