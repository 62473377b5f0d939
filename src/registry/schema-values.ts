/** Small parts of the export of schemas: enums, patterns, keywords that hold one schema. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Copied } from "../jsonschema/bounds.ts";
import { planPattern } from "../jsonschema/patterns.ts";

/** Keywords that hold one schema and pass as they are. */
export const SINGLE_SCHEMAS: ReadonlySet<string> = new Set([
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

/**
 * `enum` as a provider takes it, with the type beside it where the schema states none; `undefined` where it takes no such values.
 *
 * @param types `string`, `number`, `boolean`, `null`: what members may be; fewer than all four means one kind at a time.
 */
export function enumForm(
  values: readonly Copied[],
  needsType: boolean,
  types: ReadonlySet<string>,
): JsonObject | undefined {
  const isKnown = values.every((member) => types.has(member === null ? "null" : typeof member));
  const isUniform = new Set(values.map((member) => typeof member)).size === 1;
  const [first] = values;
  if (first === undefined || !isKnown || (types.size < 4 && !isUniform)) return undefined;
  const members = [...new Set(values)] as JsonValue[];
  if (!needsType || !isUniform || first === null) return { enum: members };
  const isWhole = members.every((member) => Number.isInteger(member));
  return { enum: members, type: typeof first === "number" ? (isWhole ? "integer" : "number") : typeof first };
}

/** Whether a schema says of what kind its values are, in one way or another. */
export function hasKind(schema: JsonObject): boolean {
  return ["type", "anyOf", "enum", "const", "$ref"].some((keyword) => schema[keyword] !== undefined);
}

/** One that every provider's engine can run. */
export function isPortablePattern(value: unknown): boolean {
  return typeof value === "string" && !/\(\?[=!<]/.test(value) && planPattern(value).ok;
}

export function toJson(value: Copied): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
