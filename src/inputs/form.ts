/**
 * A form that a server asks for, judged and cleaned. Accepted is what the specification knows: a flat object of texts, numbers,
 * booleans and choices, in all five spellings of a choice (schema EnumSchema). Anything else is refused as a whole, so that
 * nobody answers a question other than the one shown.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { compileSchema, type CompiledSchema } from "../jsonschema/compile.ts";
import { refusal } from "./refusal.ts";
import { namesSecret } from "./sensitive.ts";
import { labelOf } from "./words.ts";

interface Field {
  /** The server's own name of it: the key of the answer. */
  readonly name: string;
  /** What to show in its place: the title where there is one. */
  readonly label: string;
  readonly description: string | null;
  readonly isRequired: boolean;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export interface TextField extends Field {
  readonly kind: "text";
  readonly format: "email" | "uri" | "date" | "date-time" | null;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly default: string | null;
}

export interface NumberField extends Field {
  readonly kind: "number";
  readonly isInteger: boolean;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly default: number | null;
}

export interface BooleanField extends Field {
  readonly kind: "boolean";
  readonly default: boolean | null;
}

export interface ChoiceField extends Field {
  readonly kind: "choice";
  readonly choices: readonly Choice[];
  readonly default: string | null;
}

/** Several of the choices. */
export interface ChoicesField extends Field {
  readonly kind: "choices";
  readonly choices: readonly Choice[];
  readonly minItems: number | null;
  readonly maxItems: number | null;
  readonly default: readonly string[] | null;
}

export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;

export interface Form {
  readonly fields: readonly FormField[];
  /** What an answer is checked against: the schema as it came. */
  readonly schema: CompiledSchema;
}

const MAX_FIELDS = 50;
const MAX_CHOICES = 500;
const MAX_NAME = 100;
const MAX_LABEL = 200;
const MAX_DESCRIPTION = 500;
/** Bytes of JSON. */
const MAX_SCHEMA = 64 * 1024;

/** Keywords that make a schema more than a flat primitive. */
const STRUCTURE = [
  "$ref",
  "$dynamicRef",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "prefixItems",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
];
const ROOT_STRUCTURE = [
  ...STRUCTURE.filter((keyword) => keyword !== "properties"),
  "anyOf",
  "oneOf",
  "items",
];

/** Reads `requestedSchema` of an elicitation. @param schema untrusted. @throws PortcullisError `input_refused` with what is wrong. */
export function readForm(schema: JsonObject): Form {
  const compiled = compileSchema(schema, {
    formats: "assertion",
    bounds: { bytes: MAX_SCHEMA, depth: 8, subschemas: 2_000 },
  });
  if (!compiled.ok) throw refusal(`its form cannot be used: ${labelOf(compiled.reason, 200)}`);
  return { fields: readFields(schema), schema: compiled };
}

function readFields(schema: JsonObject): readonly FormField[] {
  if (ownProperty(schema, "type") !== "object") throw refusal("its form is no object of fields");
  refuseStructure(schema, ROOT_STRUCTURE, "its form");
  const properties = ownProperty(schema, "properties") ?? {};
  if (!isJsonObject(properties)) throw refusal("its form has no fields");
  const required = ownProperty(schema, "required") ?? [];
  if (
    !Array.isArray(required) ||
    required.some((name) => typeof name !== "string" || !Object.hasOwn(properties, name))
  )
    throw refusal("its form requires what is no field of it");
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS)
    throw refusal(`its form has ${names.length} fields; at most ${MAX_FIELDS} are asked`);
  return names.map((name) => readField(name, ownProperty(properties, name), required.includes(name)));
}

function readField(name: string, property: unknown, isRequired: boolean): FormField {
  // A name that does not look like what it is could be taken for another field.
  if (name.length > MAX_NAME || name === "__proto__" || labelOf(name, MAX_NAME) !== name || name === "")
    throw refusal("a field of its form has a name that cannot be shown as it is");
  if (!isJsonObject(property)) throw refusal(`the field \`${name}\` has no type`);
  refuseStructure(property, STRUCTURE, `the field \`${name}\``);
  const title = ownProperty(property, "title");
  const description = ownProperty(property, "description");
  const label = typeof title === "string" ? labelOf(title, MAX_LABEL) : "";
  const field: Field = {
    name,
    label: label === "" ? name : label,
    description: typeof description === "string" ? labelOf(description, MAX_DESCRIPTION) : null,
    isRequired,
  };
  const choices = readChoices(name, property);
  switch (ownProperty(property, "type")) {
    case "string":
      if (choices === null) refuseSecret(name, property);
      return choices === null ? textField(field, property) : choiceField(field, property, choices);
    case "number":
    case "integer":
      refuseChoices(name, choices);
      refuseSecret(name, property);
      return numberField(field, property);
    case "boolean":
      refuseChoices(name, choices);
      return { ...field, kind: "boolean", default: as("boolean", property["default"]) };
    case "array":
      refuseChoices(name, choices);
      return choicesField(field, property);
    default:
      // An untyped choice of texts is one that other clients take as well.
      if (property["type"] === undefined && choices !== null) return choiceField(field, property, choices);
      throw refusal(`the field \`${name}\` is no text, number, boolean or choice`);
  }
}

/** What can be typed freely must not be a secret. */
function refuseSecret(name: string, property: JsonObject): void {
  const { title, format } = property;
  if (namesSecret(name) || (typeof title === "string" && namesSecret(title)) || format === "password")
    throw refusal(`the field \`${name}\` asks for a secret, which no form may`);
}

function textField(field: Field, property: JsonObject): TextField {
  const { format } = property;
  return {
    ...field,
    kind: "text",
    format:
      format === "email" || format === "uri" || format === "date" || format === "date-time" ? format : null,
    minLength: as("number", property["minLength"]),
    maxLength: as("number", property["maxLength"]),
    default: as("string", property["default"]),
  };
}

function numberField(field: Field, property: JsonObject): NumberField {
  return {
    ...field,
    kind: "number",
    isInteger: property["type"] === "integer",
    minimum: as("number", property["minimum"]),
    maximum: as("number", property["maximum"]),
    default: as("number", property["default"]),
  };
}

function choiceField(field: Field, property: JsonObject, choices: readonly Choice[]): ChoiceField {
  const preset = property["default"];
  return { ...field, kind: "choice", choices, default: isAmong(preset, choices) ? preset : null };
}

function choicesField(field: Field, property: JsonObject): ChoicesField {
  const items = ownProperty(property, "items");
  if (!isJsonObject(items)) throw refusal(`the field \`${field.name}\` is a list of anything`);
  refuseStructure(items, STRUCTURE, `the field \`${field.name}\``);
  const choices = readChoices(field.name, items);
  if (choices === null) throw refusal(`the field \`${field.name}\` is a list of anything`);
  const preset = property["default"];
  const isPreset = Array.isArray(preset) && preset.every((value) => isAmong(value, choices));
  return {
    ...field,
    kind: "choices",
    choices,
    minItems: as("number", property["minItems"]),
    maxItems: as("number", property["maxItems"]),
    default: isPreset ? (preset as string[]) : null,
  };
}

/** `enum`, `enum` with `enumNames`, `oneOf` or `anyOf` with `const` and `title`; `null` where it is no choice. */
function readChoices(name: string, property: JsonObject): readonly Choice[] | null {
  const values = ownProperty(property, "enum");
  const titled = ownProperty(property, "oneOf") ?? ownProperty(property, "anyOf");
  if (values === undefined && titled === undefined) return null;
  const list = Array.isArray(values) ? values : Array.isArray(titled) ? titled : [];
  const names = ownProperty(property, "enumNames");
  const choices = list.map((item, index): Choice => {
    const isTitled = isJsonObject(item);
    const value = isTitled ? ownProperty(item, "const") : item;
    const label = isTitled ? ownProperty(item, "title") : Array.isArray(names) ? names[index] : undefined;
    if (typeof value !== "string" || (values !== undefined && isTitled))
      throw refusal(`a choice of the field \`${name}\` is no text`);
    const shown = labelOf(typeof label === "string" && label !== "" ? label : value, MAX_LABEL);
    return { value, label: shown };
  });
  if (choices.length === 0 || choices.length > MAX_CHOICES)
    throw refusal(`the field \`${name}\` has ${choices.length} choices`);
  return choices;
}

function refuseChoices(name: string, choices: readonly Choice[] | null): void {
  if (choices !== null) throw refusal(`the field \`${name}\` is a choice of something else than texts`);
}

function refuseStructure(schema: JsonObject, keywords: readonly string[], what: string): void {
  const found = keywords.find((keyword) => Object.hasOwn(schema, keyword));
  if (found !== undefined) throw refusal(`${what} uses \`${found}\`, which no form may`);
}

function isAmong(value: unknown, choices: readonly Choice[]): value is string {
  return choices.some((choice) => choice.value === value);
}

function as(type: "string", value: unknown): string | null;
function as(type: "number", value: unknown): number | null;
function as(type: "boolean", value: unknown): boolean | null;
function as(type: "string" | "number" | "boolean", value: unknown): unknown {
  return typeof value === type ? value : null;
}
