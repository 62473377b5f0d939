/**
 * What each model provider takes as a schema of arguments, as documented:
 * - Anthropic, "Tool use": `input_schema` is JSON Schema 2020-12, an object without `oneOf`, `anyOf`, `allOf` at its root; member
 *   names of properties match `^[a-zA-Z0-9_.-]{1,64}$`.
 * - OpenAI, "Function calling": an object with `properties` and without `oneOf`, `anyOf`, `allOf`, `enum`, `not` at its root; arrays
 *   have `items`. "Structured outputs" (strict): every object is closed and requires all its properties; `anyOf` only below the
 *   root; a fixed list of keywords; at most 5,000 properties, 1,000 enum values, 10 levels.
 * - Gemini, "Function calling" (`parametersJsonSchema`): a fixed list of keywords; `oneOf` is read as `anyOf`; enums hold strings or
 *   numbers; nothing but `$…` beside `$ref`.
 * Patterns go to engines without lookaround, so those with lookaround are left to our own check.
 */

export interface SchemaProfile {
  readonly keywords: ReadonlySet<string>;
  /** What names of properties must match; others are renamed, and renamed back in the arguments. */
  readonly propertyName: RegExp;
  /** Other keywords may stand beside `$ref`. */
  readonly hasRefSiblings: boolean;
  /** Every object closed, every property required; what was optional may be null instead. */
  readonly isStrict: boolean;
  /** Enum members of these types only. */
  readonly enumTypes: ReadonlySet<string>;
  /** Arrays must have `items`. */
  readonly needsItems: boolean;
  /** Characters per description inside the schema. */
  readonly maxDescription: number;
}

const ANNOTATIONS = ["title", "description"];
const COMMON = [
  ...ANNOTATIONS,
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "prefixItems",
  "anyOf",
  "$ref",
  "$defs",
  "format",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
];
const NUMBERS = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const FULL = [
  ...COMMON,
  ...NUMBERS,
  "default",
  "examples",
  "pattern",
  "minLength",
  "maxLength",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "propertyNames",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "unevaluatedItems",
];

const ANY_ENUM = new Set(["string", "number", "boolean", "null"]);
const NAME_OF_ANTHROPIC = /^[a-zA-Z0-9_.-]{1,64}$/;
/** OpenAI documents none; quotes and the like have been refused in strict mode. */
const NAME_OF_OPENAI = /^[^"\\\u0000-\u001f]{1,128}$/u;
const NAME_OF_GEMINI = /^[a-zA-Z0-9_.$-]{1,64}$/;

export const anthropicProfile: SchemaProfile = {
  keywords: new Set(FULL),
  propertyName: NAME_OF_ANTHROPIC,
  hasRefSiblings: true,
  isStrict: false,
  enumTypes: ANY_ENUM,
  needsItems: false,
  maxDescription: 4_000,
};

export const openAiProfile: SchemaProfile = {
  ...anthropicProfile,
  propertyName: NAME_OF_OPENAI,
  needsItems: true,
};

export const openAiStrictProfile: SchemaProfile = {
  keywords: new Set([...COMMON, ...NUMBERS, "pattern"].filter((keyword) => keyword !== "prefixItems")),
  propertyName: NAME_OF_OPENAI,
  hasRefSiblings: false,
  isStrict: true,
  enumTypes: ANY_ENUM,
  needsItems: true,
  maxDescription: 1_000,
};

export const geminiProfile: SchemaProfile = {
  keywords: new Set(COMMON.filter((keyword) => keyword !== "const")),
  propertyName: NAME_OF_GEMINI,
  hasRefSiblings: false,
  isStrict: false,
  enumTypes: new Set(["string", "number"]),
  needsItems: true,
  maxDescription: 4_000,
};

/** For a framework that passes schemas on to providers that it does not name: what all of them take. */
export const portableProfile: SchemaProfile = {
  ...geminiProfile,
  propertyName: NAME_OF_ANTHROPIC,
  enumTypes: new Set(["string", "number"]),
};
