/**
 * The documented rules of each provider for a tool's schema, written down a second time and independently of the exporter: what
 * breaks one is what a real request would be refused for.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/base/json.ts";

const ajv = new Ajv2020({ strict: false, logger: false });

/** Every schema inside a schema, with its path and its depth in objects and arrays. */
function* subschemas(
  schema: JsonValue,
  path = "#",
  depth = 0,
): Generator<readonly [JsonObject, string, number]> {
  if (!isJsonObject(schema)) return;
  yield [schema, path, depth];
  for (const keyword of ["properties", "patternProperties", "$defs", "dependentSchemas"]) {
    const map = schema[keyword];
    if (isJsonObject(map))
      for (const [name, member] of Object.entries(map))
        yield* subschemas(member, `${path}/${keyword}/${name}`, depth + 1);
  }
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const list = schema[keyword];
    if (Array.isArray(list))
      for (const [at, item] of list.entries()) yield* subschemas(item, `${path}/${keyword}/${at}`, depth);
  }
  for (const keyword of [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
  ]) {
    yield* subschemas(schema[keyword] ?? null, `${path}/${keyword}`, depth + 1);
  }
}

function checkCommon(schema: JsonObject, problems: string[]): void {
  if (ajv.validateSchema(schema) !== true) problems.push(`no valid 2020-12: ${ajv.errorsText()}`);
  if (schema["type"] !== "object") problems.push("the root is no object");
  if (!isJsonObject(schema["properties"])) problems.push("the root has no properties");
  for (const keyword of ["oneOf", "anyOf", "allOf", "not", "enum"])
    if (schema[keyword] !== undefined) problems.push(`${keyword} at the root`);
  const names = new Set(Object.keys(isJsonObject(schema["$defs"]) ? schema["$defs"] : {}));
  for (const [node, path] of subschemas(schema)) {
    const reference = node["$ref"];
    if (reference === undefined) continue;
    const isKnown =
      reference === "#" || (typeof reference === "string" && names.has(reference.replace("#/$defs/", "")));
    if (!isKnown) problems.push(`${path} refers to nothing: ${JSON.stringify(reference)}`);
  }
}

export function anthropicProblems(tool: {
  readonly name: string;
  readonly input_schema: JsonObject;
}): readonly string[] {
  const problems: string[] = [];
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) problems.push("name");
  checkCommon(tool.input_schema, problems);
  for (const [node, path] of subschemas(tool.input_schema)) {
    for (const name of isJsonObject(node["properties"]) ? Object.keys(node["properties"]) : []) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) problems.push(`${path}: the property name ${name}`);
    }
  }
  return problems;
}

const STRICT_KEYWORDS = new Set(
  "type title description enum const properties required additionalProperties items anyOf $ref $defs format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems".split(
    " ",
  ),
);

export function openAiProblems(tool: {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: boolean;
}): readonly string[] {
  const problems: string[] = [];
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) problems.push("name");
  if (tool.description.length > 1_024) problems.push("description");
  checkCommon(tool.parameters, problems);
  for (const [node, path, depth] of subschemas(tool.parameters)) {
    const types = Array.isArray(node["type"]) ? node["type"] : [node["type"]];
    if (types.includes("array") && node["items"] === undefined) problems.push(`${path}: array without items`);
    if (!tool.strict) continue;
    if (depth > 12) problems.push(`${path}: too deep`);
    for (const keyword of Object.keys(node))
      if (!STRICT_KEYWORDS.has(keyword)) problems.push(`${path}: ${keyword} in strict mode`);
    if (node["$ref"] !== undefined && Object.keys(node).length > 1)
      problems.push(`${path}: siblings of $ref in strict mode`);
    if (types.includes("object")) {
      if (node["additionalProperties"] !== false) problems.push(`${path}: an open object in strict mode`);
      const names = isJsonObject(node["properties"]) ? Object.keys(node["properties"]) : [];
      const required = Array.isArray(node["required"]) ? node["required"] : [];
      if (names.some((name) => !required.includes(name)))
        problems.push(`${path}: an optional property in strict mode`);
    }
    const hasKind = ["type", "anyOf", "enum", "const", "$ref"].some((keyword) => node[keyword] !== undefined);
    if (!hasKind) problems.push(`${path}: no type in strict mode`);
  }
  return problems;
}

const GEMINI_KEYWORDS = new Set(
  "type title description enum properties required additionalProperties items prefixItems anyOf oneOf $ref $defs $id $anchor format minimum maximum minItems maxItems propertyOrdering".split(
    " ",
  ),
);

export function geminiProblems(tool: {
  readonly name: string;
  readonly parametersJsonSchema: JsonObject;
}): readonly string[] {
  const problems: string[] = [];
  if (!/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(tool.name)) problems.push("name");
  checkCommon(tool.parametersJsonSchema, problems);
  for (const [node, path] of subschemas(tool.parametersJsonSchema)) {
    for (const keyword of Object.keys(node))
      if (!GEMINI_KEYWORDS.has(keyword)) problems.push(`${path}: ${keyword}`);
    const members = Array.isArray(node["enum"]) ? node["enum"] : [];
    if (members.some((member) => typeof member !== "string" && typeof member !== "number"))
      problems.push(`${path}: enum`);
    if (node["$ref"] !== undefined && Object.keys(node).some((keyword) => !keyword.startsWith("$")))
      problems.push(`${path}: siblings of $ref`);
  }
  return problems;
}
