import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileSchema } from "../../../src/jsonschema/compile.ts";
import { checkArguments } from "../../../src/registry/arguments.ts";
import {
  offered,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toMcpTool,
  toOpenAiChatTools,
  toOpenAiResponsesTools,
  type OfferedTool,
} from "../../../src/registry/providers.ts";
import { META_TOOLS } from "../../../src/registry/offer.ts";
import { anthropicProblems, geminiProblems, openAiProblems } from "../../support/provider-rules.ts";
import { brokenTools } from "../../support/broken-tools.ts";
import { entryOf, tool } from "../../support/tools.ts";
import { hostileCases } from "../../support/hostile-schemas.ts";

function offer(inputSchema: unknown, description = "Does it."): OfferedTool {
  return { exposedName: "files__do_it", description, inputSchema: inputSchema as JsonObject };
}

const str = { type: "string" };
const obj = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});

const odd: readonly (readonly [string, JsonObject])[] = [
  ["nothing", {}],
  ["only a type", { type: "object" }],
  ["no type", { properties: { q: str } }],
  ["required without a property", obj({ q: str }, { required: ["ghost", "q"] })],
  [
    "anyOf at the root",
    { type: "object", anyOf: [obj({ a: str }, { required: ["a"] }), obj({ b: str }, { required: ["b"] })] },
  ],
  [
    "oneOf at the root with a discriminator",
    { oneOf: [obj({ kind: { const: "x" }, x: str }), obj({ kind: { const: "y" }, y: str })] },
  ],
  ["allOf at the root", { allOf: [obj({ a: str }, { required: ["a"] }), obj({ b: str })] }],
  ["$ref at the root", { $ref: "#/$defs/R", $defs: { R: obj({ q: str }) } }],
  ["if at the root", { ...obj({ a: str }), if: { required: ["a"] }, then: { properties: { b: str } } }],
  ["recursive root", obj({ name: str, children: { type: "array", items: { $ref: "#" } } })],
  [
    "mutual recursion",
    obj(
      { a: { $ref: "#/$defs/A" } },
      { $defs: { A: obj({ b: { $ref: "#/$defs/B" } }), B: obj({ a: { $ref: "#/$defs/A" } }) } },
    ),
  ],
  [
    "odd property names",
    obj({ $filter: str, 天気: str, "a b": str, ["n".repeat(80)]: str, "": str, 'q"': str }),
  ],
  [
    "draft-07 tuple",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...obj({ p: { type: "array", items: [str, { type: "number" }], additionalItems: false } }),
    },
  ],
  [
    "draft-04 bounds",
    {
      $schema: "http://json-schema.org/draft-04/schema#",
      ...obj({ n: { type: "number", minimum: 0, exclusiveMinimum: true } }),
    },
  ],
  [
    "definitions and anchors",
    {
      ...obj({ a: { $ref: "#/definitions/D" }, b: { $ref: "#named" } }),
      definitions: { D: { $anchor: "named", type: "string" } },
    },
  ],
  [
    "an embedded resource",
    {
      $id: "https://x.example/s",
      ...obj({ a: { $ref: "part#/$defs/x" } }),
      $defs: { p: { $id: "part", $defs: { x: str } } },
    },
  ],
  [
    "enums of every kind",
    obj({
      a: { enum: ["x", 1, null, true] },
      b: { enum: [1, 2] },
      c: { const: "k" },
      d: { enum: [] },
      e: { enum: [{ a: 1 }] },
      f: { const: null },
    }),
  ],
  ["arrays without items", obj({ a: { type: "array" }, b: { type: ["array", "null"] } })],
  ["booleans as schemas", obj({ any: true, never: false }, { additionalProperties: true })],
  [
    "bounds of every kind",
    obj({
      n: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 },
      s: { type: "string", minLength: 1, maxLength: 9, pattern: "^(?!x)y" },
      l: { type: "array", items: str, uniqueItems: true },
    }),
  ],
  [
    "bad and odd patterns",
    obj({ a: { type: "string", pattern: "(?P<y>a)" }, b: { type: "string", pattern: "^[\\w.-]+$" } }),
  ],
  [
    "unknown keywords",
    { ...obj({ q: { type: "string", "x-order": 1, nullable: true, example: "e" } }), "x-google": true },
  ],
  ["patternProperties", { type: "object", patternProperties: { "^x-": str }, additionalProperties: false }],
  ["hidden text", obj({ q: { type: "string", description: "plain\u200b\u001b[8mhidden" } })],
  [
    "a description beside $ref",
    obj({ x: { $ref: "#/$defs/X", description: "beside" } }, { $defs: { X: str } }),
  ],
  [
    "members of objects",
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject,
  ],
  [
    "unevaluatedProperties",
    { ...obj({ q: str }), allOf: [{ properties: { r: str } }], unevaluatedProperties: false },
  ],
  [
    "dependencies",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...obj({ a: str, b: str }),
      dependencies: { a: ["b"] },
    },
  ],
];

describe("provider formats", () => {
  it.each(odd)("%s: passes every provider's documented rules", (_what, schema) => {
    const tools = [offer(schema)];
    const strict = toOpenAiResponsesTools(tools, { strict: true });
    expect(toAnthropicTools(tools).flatMap(({ definition }) => anthropicProblems(definition))).toEqual([]);
    expect(toOpenAiChatTools(tools).flatMap(({ definition }) => openAiProblems(definition.function))).toEqual(
      [],
    );
    expect(strict.flatMap(({ definition }) => openAiProblems(definition))).toEqual([]);
    expect(toGeminiTools(tools).flatMap(({ definition }) => geminiProblems(definition))).toEqual([]);
    const [sdk] = Object.values(toAiSdkTools(tools));
    expect(anthropicProblems({ name: "x", input_schema: sdk?.definition.inputSchema ?? {} })).toEqual([]);
  });

  it("never throws, however broken or hostile the schema is", () => {
    const schemas = [
      ...brokenTools(0).map(
        ({ definition }) => (definition as { inputSchema?: unknown } | null)?.inputSchema ?? null,
      ),
      ...hostileCases.map(({ schema }) => schema),
    ];
    for (const schema of schemas) {
      const tools = [offer(schema)];
      expect(toAnthropicTools(tools).flatMap(({ definition }) => anthropicProblems(definition))).toEqual([]);
      expect(
        toOpenAiResponsesTools(tools, { strict: true }).flatMap(({ definition }) =>
          openAiProblems(definition),
        ),
      ).toEqual([]);
      expect(toGeminiTools(tools).flatMap(({ definition }) => geminiProblems(definition))).toEqual([]);
    }
  }, 60_000);

  it("keeps what belongs together at the root in one object, nothing lost", () => {
    const schema = {
      oneOf: [
        obj({ kind: { const: "x" }, x: str }, { required: ["kind", "x"] }),
        obj({ kind: { const: "y" }, y: str }, { required: ["kind", "y"] }),
      ],
    };
    const [made] = toAnthropicTools([offer(schema)]);
    expect(made?.definition.input_schema).toEqual({
      type: "object",
      properties: { kind: { enum: ["x", "y"] }, x: str, y: str },
      required: ["kind"],
      description: "(needs kind and x, or kind and y)",
    });
    expect(made?.notes).toEqual(["alternatives at the root are offered as one set of properties"]);
  });

  it("renames properties that a provider refuses, at every level, and gives their names back", () => {
    const schema = obj({ $filter: obj({ "a b": str }, { required: ["a b"] }) }, { required: ["$filter"] });
    const [made] = toAnthropicTools([offer(schema)]);
    const outer = Object.keys(made?.definition.input_schema["properties"] ?? {})[0] ?? "";
    expect(outer).toMatch(/^filter_[0-9a-f]{8}$/);
    const text = JSON.stringify(made?.definition.input_schema);
    const renamed = /"(a_b_[0-9a-f]{8})"/.exec(text)?.[1] ?? "";
    expect(made?.toArguments({ [outer]: { [renamed]: "v" } })).toEqual({ $filter: { "a b": "v" } });
  });

  it("says in words what a subset cannot say, and keeps the check", () => {
    const schema = obj({ name: { type: "string", minLength: 3, description: "A name" } });
    const [made] = toGeminiTools([offer(schema)]);
    expect(made?.definition.parametersJsonSchema).toEqual(
      obj({ name: { type: "string", description: "A name (at least 3 characters)" } }),
    );
  });

  it("is strict where that says the same: optional properties may be null, which our check takes as absent", () => {
    const schema = obj(
      { title: str, count: { type: "integer" }, state: { enum: ["open", "closed"] } },
      { required: ["title"], additionalProperties: false },
    );
    const [made] = toOpenAiResponsesTools([offer(schema)], { strict: true });
    expect(made?.definition).toMatchObject({
      strict: true,
      parameters: { required: ["title", "count", "state"], additionalProperties: false },
    });
    const compiled = compileSchema(schema);
    if (!compiled.ok) throw new Error(compiled.reason);
    const answer = made?.toArguments({ title: "x", count: null, state: null });
    expect(checkArguments({ inputSchema: schema, compiled }, answer)).toMatchObject({
      ok: true,
      arguments: { title: "x" },
    });
  });

  it("is not strict where that would say something else, and tells why", () => {
    const [made] = toOpenAiChatTools([offer(obj({ meta: { type: "object" } }))], { strict: true });
    expect(made?.definition.function.strict).toBe(false);
    expect(made?.notes).toEqual(["not strict: an open object has no strict form"]);
  });

  it("cleans the texts that a model reads", () => {
    const [made] = toAnthropicTools([
      offer(obj({ q: { type: "string", description: "plain\u200b\u001b[8mhidden" } })),
    ]);
    expect(JSON.stringify(made?.definition)).toContain('"description":"plainhidden"');
  });

  it("offers the meta tools in every form", () => {
    expect(toAnthropicTools(META_TOOLS).flatMap(({ definition }) => anthropicProblems(definition))).toEqual(
      [],
    );
    expect(
      toOpenAiResponsesTools(META_TOOLS, { strict: true }).flatMap(({ definition }) =>
        openAiProblems(definition),
      ),
    ).toEqual([]);
    expect(toGeminiTools(META_TOOLS).flatMap(({ definition }) => geminiProblems(definition))).toEqual([]);
  });
});

describe("MCP format", () => {
  const register = (definition: Record<string, unknown>) => {
    const entry = entryOf(definition);
    return {
      entry,
      exposedName: `files__${entry.name}`,
      key: { server: "files", credential: "shared" },
      pinState: "new",
      isBaseline: true,
    } as const;
  };

  it("keeps every keyword of the schemas [TOOL-32]", () => {
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { type: "string", "x-mcp-header": "B" } },
      $defs: { A: { $anchor: "a", type: "object", additionalProperties: false } },
      allOf: [{ anyOf: [{ required: ["a"] }, {}] }],
      if: { required: ["a"] },
      then: {},
      else: {},
    };
    const made = toMcpTool(register(tool("x", { inputSchema, outputSchema: { type: "object" } })));
    expect(made.inputSchema).toEqual(inputSchema);
    expect(made.outputSchema).toEqual({ type: "object" });
    expect(made.name).toBe("files__x");
  });

  it("adds the type that servers forget, and leaves out icons and hints of the wrong type [TOOL-33] [TOOL-37]", () => {
    const made = toMcpTool(
      register(
        tool("x", {
          inputSchema: {},
          icons: [{ src: "javascript:alert(1)" }],
          annotations: { readOnlyHint: "true", openWorldHint: false },
        }),
      ),
    );
    expect(made).toEqual({
      name: "files__x",
      description: "Does x.",
      inputSchema: { type: "object" },
      annotations: { openWorldHint: false },
    });
  });

  it("offers the description for models", () => {
    const registered = register(tool("x", { description: "a\u200bb" }));
    expect(offered(registered).description).toBe("ab");
    expect(toMcpTool(registered).description).toBe("ab");
  });
});

describe("values with hidden characters", () => {
  const schema = {
    type: "object",
    properties: {
      mode: {
        type: "string",
        enum: ["plain", "pl\u202eain", "\u{1f469}\u200d\u{1f467}"],
        default: "x\u200b",
      },
      kind: { const: "a\u0007" },
      only: { enum: ["\u{e0041}"] },
    },
  };
  const entry = entryOf(tool("odd", { inputSchema: schema }));
  const key = { server: "files", credential: "shared" };
  const registered = { entry, exposedName: "files__odd", key, pinState: "new", isBaseline: true } as const;
  const expected = {
    mode: { type: "string", enum: ["plain", "\u{1f469}\u200d\u{1f467}"] },
    kind: {},
    only: {},
  };

  it("are not offered to a model; valid emoji are", () => {
    const [anthropic] = toAnthropicTools([offered(registered)]);
    expect(anthropic?.definition.input_schema["properties"]).toEqual(expected);
    expect(anthropic?.notes).toEqual(["values that hold hidden characters are left out"]);
    expect(toMcpTool(registered).inputSchema["properties"]).toEqual(expected);
    const [strict] = toOpenAiResponsesTools([offered(registered)], { strict: true });
    expect(strict?.definition.strict).toBe(false);
    expect(JSON.stringify(strict?.definition)).not.toMatch(/\u202e|\\u0007|\u{e0041}/u);
  });
});
