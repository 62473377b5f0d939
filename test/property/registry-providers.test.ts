/** Whatever fits a tool's schema, alternatives at its root apart, can be said in each provider's form of it, and comes back the same. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/base/json.ts";
import { compileSchema } from "../../src/jsonschema/compile.ts";
import { checkArguments } from "../../src/registry/arguments.ts";
import { toAnthropicTools, toGeminiTools, toOpenAiResponsesTools } from "../../src/registry/providers.ts";
import { anthropicProblems, geminiProblems, openAiProblems } from "../support/provider-rules.ts";

const name = fc.constantFrom("a", "b", "c", "d");
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, 0, 1, -2, 1.5, "", "a", "abc"),
  fc.integer({ min: -9, max: 9 }),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const argumentsObject = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });

const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => {
  const map = fc.dictionary(name, tie("schema"), { minKeys: 1, maxKeys: 3, noNullPrototype: true });
  const list = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  const required = fc.uniqueArray(name, { maxLength: 2 });
  const objectSchema = fc
    .record(
      { properties: map, required, additionalProperties: fc.oneof(fc.boolean(), tie("schema")) },
      { requiredKeys: ["properties"] },
    )
    .map((made) => ({ type: "object", ...made }) as JsonObject);
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.oneof(
        fc
          .constantFrom("string", "number", "integer", "boolean", "null")
          .map((type): JsonObject => ({ type })),
        fc.record({
          enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
        }) as fc.Arbitrary<JsonObject>,
        fc.record({ const: scalar }) as fc.Arbitrary<JsonObject>,
        fc.record({
          type: fc.constant("number"),
          exclusiveMinimum: fc.integer({ min: -3, max: 3 }),
          maximum: fc.integer({ min: 0, max: 9 }),
        }) as fc.Arbitrary<JsonObject>,
        fc.record({
          type: fc.constant("string"),
          maxLength: fc.nat(3),
          pattern: fc.constantFrom("^a", "(?=a)a", "["),
        }) as fc.Arbitrary<JsonObject>,
        fc.constant<JsonObject>({}),
        fc.constant<JsonObject>({ $ref: "#/$defs/leaf" }),
        fc.constant<JsonObject>({ $ref: "#/$defs/tree", description: "beside" }),
      ),
      objectSchema,
      objectSchema,
      fc.record(
        { type: fc.constant("array"), items: tie("schema") },
        { requiredKeys: ["type"] },
      ) as fc.Arbitrary<JsonObject>,
      list.map((anyOf): JsonObject => ({ anyOf })),
      list.map((oneOf): JsonObject => ({ oneOf })),
      fc.tuple(objectSchema, list).map(([made, allOf]): JsonObject => ({ ...made, allOf })),
      fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }) as fc.Arbitrary<JsonObject>,
    ),
  };
});

const root = fc.tuple(schema, fc.boolean()).map(([made, isPlain]): JsonObject => ({
  ...(isPlain ? { type: "object", properties: { a: made } } : made),
  $defs: {
    leaf: { type: "string" },
    tree: { type: "object", properties: { a: { $ref: "#/$defs/tree" }, b: { type: "integer" } } },
  },
}));

/** What a model does in strict mode: every property is there, those it has nothing for are null. */
function fillStrict(given: JsonValue, shape: unknown, whole: JsonObject): JsonValue {
  if (!isJsonObject(shape)) return given;
  const reference = shape["$ref"];
  if (reference === "#") return fillStrict(given, whole, whole);
  if (typeof reference === "string") {
    const definitions = whole["$defs"];
    return fillStrict(
      given,
      isJsonObject(definitions) ? definitions[reference.replace("#/$defs/", "")] : undefined,
      whole,
    );
  }
  const branches = shape["anyOf"];
  if (Array.isArray(branches)) {
    for (const branch of branches) {
      const filled = fillStrict(given, branch, whole);
      if (fits({ ...(branch as JsonObject), $defs: whole["$defs"] ?? {} }, filled)) return filled;
    }
    return given;
  }
  if (Array.isArray(given)) return given.map((item) => fillStrict(item, shape["items"], whole));
  const properties = shape["properties"];
  if (!isJsonObject(given) || !isJsonObject(properties)) return given;
  const filled: JsonObject = { ...given };
  for (const member of Object.keys(properties)) {
    filled[member] = Object.hasOwn(given, member)
      ? fillStrict(given[member] ?? null, properties[member], whole)
      : null;
  }
  return filled;
}

function fits(made: JsonObject, candidate: JsonValue): boolean {
  const compiled = compileSchema(made);
  if (!compiled.ok) throw new Error(`${compiled.reason}: ${JSON.stringify(made)}`);
  return compiled.validate(candidate).ok;
}

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 1_500) };

describe("schemas for providers", () => {
  it("accept every arguments object that the original accepts, and give it back", () => {
    let fitting = 0;
    fc.assert(
      fc.property(root, fc.array(argumentsObject, { maxLength: 6 }), (inputSchema, candidates) => {
        const tools = [{ exposedName: "s__t", description: null, inputSchema }];
        const compiled = compileSchema(inputSchema);
        if (!compiled.ok) {
          fc.pre(compiled.code !== "unsupported_pattern");
          throw new Error(compiled.reason);
        }
        const anthropic = toAnthropicTools(tools)[0];
        const openAi = toOpenAiResponsesTools(tools)[0];
        const gemini = toGeminiTools(tools)[0];
        const forms = [
          anthropic?.definition.input_schema,
          openAi?.definition.parameters,
          gemini?.definition.parametersJsonSchema,
        ];
        expect(anthropicProblems(anthropic?.definition ?? { name: "", input_schema: {} })).toEqual([]);
        if (openAi !== undefined) expect(openAiProblems(openAi.definition)).toEqual([]);
        if (gemini !== undefined) expect(geminiProblems(gemini.definition)).toEqual([]);
        for (const candidate of candidates) {
          if (!compiled.validate(candidate).ok) continue;
          fitting += 1;
          // A property that only one alternative at the root names is offered in that one's form alone.
          if (anthropic?.notes.some((note) => note.startsWith("alternatives at the root")) === true) continue;
          for (const form of forms)
            expect({ form, ok: fits(form ?? {}, candidate) }).toEqual({ form, ok: true });
          expect(anthropic?.toArguments(candidate)).toEqual(candidate);
        }
      }),
      runs,
    );
    expect(fitting).toBeGreaterThan(runs.numRuns / 4);
  }, 60_000);

  it("in strict mode too, with null for what is absent, wherever they are called strict", () => {
    let strictOnes = 0;
    fc.assert(
      fc.property(root, fc.array(argumentsObject, { maxLength: 6 }), (inputSchema, candidates) => {
        const compiled = compileSchema(inputSchema);
        fc.pre(compiled.ok);
        const [made] = toOpenAiResponsesTools([{ exposedName: "s__t", description: null, inputSchema }], {
          strict: true,
        });
        if (made === undefined || !compiled.ok) throw new Error("nothing was made");
        expect(openAiProblems(made.definition)).toEqual([]);
        if (!made.definition.strict) return;
        strictOnes += 1;
        const form = made.definition.parameters;
        for (const candidate of candidates) {
          // What names no property of the closed form was never meant to be there.
          if (!compiled.validate(candidate).ok || !fits(form, fillStrict(candidate, form, form))) continue;
          const verdict = checkArguments(
            { inputSchema, compiled },
            made.toArguments(fillStrict(candidate, form, form)),
          );
          expect({ inputSchema, candidate, ok: verdict.ok }).toEqual({ inputSchema, candidate, ok: true });
        }
      }),
      runs,
    );
    expect(strictOnes).toBeGreaterThan(runs.numRuns / 30);
  }, 60_000);
});
