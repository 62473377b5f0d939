/**
 * The keywords that count, by dialect, and the shape that each must have. What is not here is an annotation or unknown, and
 * passes. Shapes are those of the drafts' own meta-schemas, as far as validation depends on them.
 */
import type { DialectRules } from "./dialect.ts";
import { isCopiedObject, type Copied } from "./bounds.ts";

const TYPE_NAMES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;

type Shape =
  | "schema"
  | "schema list"
  | "schema map"
  | "schema or schema list"
  | "dependencies"
  | "text"
  | "texts"
  | "text map"
  | "texts map"
  | "count"
  | "number"
  | "positive number"
  | "number or flag"
  | "flag"
  | "list"
  | "types"
  | "anything";

const everywhere: Readonly<Record<string, Shape>> = {
  $ref: "text",
  type: "types",
  enum: "list",
  multipleOf: "positive number",
  maximum: "number",
  minimum: "number",
  exclusiveMaximum: "number",
  exclusiveMinimum: "number",
  maxLength: "count",
  minLength: "count",
  pattern: "text",
  format: "text",
  items: "schema",
  maxItems: "count",
  minItems: "count",
  uniqueItems: "flag",
  maxProperties: "count",
  minProperties: "count",
  required: "texts",
  properties: "schema map",
  patternProperties: "schema map",
  additionalProperties: "schema",
  dependencies: "dependencies",
  allOf: "schema list",
  anyOf: "schema list",
  oneOf: "schema list",
  not: "schema",
  definitions: "schema map",
  $defs: "schema map",
};

const since06: Readonly<Record<string, Shape>> = {
  const: "anything",
  contains: "schema",
  propertyNames: "schema",
};
const since07: Readonly<Record<string, Shape>> = { if: "schema", then: "schema", else: "schema" };
const since2019: Readonly<Record<string, Shape>> = {
  $anchor: "text",
  dependentRequired: "texts map",
  dependentSchemas: "schema map",
  minContains: "count",
  maxContains: "count",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
};
const tuple: Readonly<Record<string, Shape>> = { items: "schema or schema list", additionalItems: "schema" };

const shapes = new Map<string, ReadonlyMap<string, Shape>>();

/** The keywords of a dialect with their shapes. */
export function keywordShapes(rules: DialectRules): ReadonlyMap<string, Shape> {
  const known = shapes.get(rules.dialect);
  if (known !== undefined) return known;
  const table = new Map<string, Shape>(
    Object.entries({
      ...everywhere,
      [rules.idKeyword]: "text",
      ...(rules.hasBooleanSchemas ? since06 : {}),
      ...(rules.hasConditional ? since07 : {}),
      ...(rules.isVocabularyBased ? since2019 : {}),
      ...(rules.hasTupleItems ? tuple : { prefixItems: "schema list", items: "schema or schema list" }),
      ...(rules.hasBooleanExclusive
        ? { exclusiveMaximum: "number or flag", exclusiveMinimum: "number or flag" }
        : {}),
      ...(rules.hasRecursiveRef ? { $recursiveRef: "text", $recursiveAnchor: "flag" } : {}),
      ...(rules.hasDynamicRef ? { $dynamicRef: "text", $dynamicAnchor: "text" } : {}),
    } as Record<string, Shape>),
  );
  shapes.set(rules.dialect, table);
  return table;
}

const isSchema = (value: Copied | undefined): boolean => typeof value === "boolean" || isCopiedObject(value);
const isText = (value: Copied | undefined): boolean => typeof value === "string";
const isTexts = (value: Copied | undefined): boolean => Array.isArray(value) && value.every(isText);
const isSchemaList = (value: Copied): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isCount = (value: Copied): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 0;
const isTypeName = (value: Copied): boolean => (TYPE_NAMES as readonly unknown[]).includes(value);

function isMapOf(value: Copied, isMember: (member: Copied | undefined) => boolean): boolean {
  return isCopiedObject(value) && Object.keys(value).every((name) => isMember(value[name]));
}

/** What `value` should have been for a keyword of `shape`; `undefined` where it is right. */
export function misshapen(shape: Shape, value: Copied): string | undefined {
  switch (shape) {
    case "schema":
      return isSchema(value) ? undefined : "a schema";
    case "schema list":
      return isSchemaList(value) ? undefined : "a list of at least one schema";
    case "schema map":
      return isMapOf(value, isSchema) ? undefined : "an object of schemas";
    case "schema or schema list":
      return isSchema(value) || (Array.isArray(value) && value.every(isSchema))
        ? undefined
        : "a schema or a list of them";
    case "dependencies":
      return isMapOf(value, (member) => isSchema(member) || isTexts(member))
        ? undefined
        : "an object of schemas or of names";
    case "text":
      return isText(value) ? undefined : "a string";
    case "texts":
      return isTexts(value) ? undefined : "a list of strings";
    case "text map":
      return isMapOf(value, isText) ? undefined : "an object of strings";
    case "texts map":
      return isMapOf(value, isTexts) ? undefined : "an object of lists of strings";
    case "count":
      return isCount(value) ? undefined : "an integer of 0 or more";
    case "number":
      return typeof value === "number" ? undefined : "a number";
    case "positive number":
      return typeof value === "number" && value > 0 ? undefined : "a number above 0";
    case "number or flag":
      return typeof value === "number" || typeof value === "boolean" ? undefined : "a boolean";
    case "flag":
      return typeof value === "boolean" ? undefined : "a boolean";
    case "list":
      return Array.isArray(value) ? undefined : "a list";
    case "types": {
      const isRight = Array.isArray(value) ? value.length > 0 && value.every(isTypeName) : isTypeName(value);
      return isRight ? undefined : `one of ${TYPE_NAMES.join(", ")}, or a list of them`;
    }
    case "anything":
      return undefined;
  }
}
