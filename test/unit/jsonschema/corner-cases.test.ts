import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../src/jsonschema/compile.ts";

function compiled(schema: unknown) {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(`refused: ${result.code}, ${result.reason}`);
  return result;
}

function accepts(schema: unknown, value: unknown): boolean {
  return compiled(schema).validate(value).ok;
}

const json = (text: string): unknown => JSON.parse(text);

describe("corner cases of 2020-12", () => {
  // Each of these is answered wrongly by at least one engine in wide use (ADR 0011).
  it.each<[string, unknown, unknown, boolean]>([
    [
      "a schema for `__proto__` counts",
      json('{"properties":{"__proto__":{"type":"string"}}}'),
      json('{"__proto__":1}'),
      false,
    ],
    ["`__proto__` is required like any name", json('{"required":["__proto__"]}'), {}, false],
    ["inherited members are no members", { required: ["toString"] }, {}, false],
    ["`constructor` compares like any name", { enum: [{ constructor: [] }] }, { constructor: [] }, true],
    [
      "`toString` is as unevaluated as any name",
      { patternProperties: { "^a": true }, unevaluatedProperties: { type: "string" } },
      { toString: 0 },
      false,
    ],
    [
      "`contains` beside a tuple looks at every item",
      { prefixItems: [true, { type: "string" }], contains: { type: "string" } },
      [null],
      false,
    ],
    [
      "`contains` of an empty array after a full one",
      { items: { contains: { type: "string" } } },
      [["a"], []],
      false,
    ],
    [
      "`contains` with an empty array beside a tuple",
      { prefixItems: [{ type: "string" }], contains: true },
      [],
      false,
    ],
    [
      "a branch that failed evaluates nothing",
      {
        oneOf: [{ prefixItems: [{ type: "string" }] }, { maximum: 0 }],
        unevaluatedItems: { type: "string" },
      },
      [{}],
      false,
    ],
    [
      "`contains` evaluates for unevaluatedItems",
      { contains: { type: "string" }, unevaluatedItems: { type: "integer" } },
      ["a", 1],
      true,
    ],
    [
      "`if` without `then` evaluates",
      { if: { properties: { a: { const: 1 } }, required: ["a"] }, unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    [
      "`not` evaluates nothing",
      { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    [
      "cousins do not see each other",
      { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] },
      { a: 1 },
      false,
    ],
    [
      "siblings of `$ref` count",
      { $ref: "#/$defs/s", maxLength: 2, $defs: { s: { type: "string" } } },
      "abc",
      false,
    ],
    [
      "no siblings of `$ref` in draft-07",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        properties: { a: { $ref: "#/definitions/s", maxLength: 2 } },
        definitions: { s: { type: "string" } },
      },
      { a: "abc" },
      true,
    ],
    ["0.0075 is a multiple of 0.0001", { multipleOf: 0.0001 }, 0.0075, true],
    ["0.00751 is none", { multipleOf: 0.0001 }, 0.00751, false],
    ["1e308 is a multiple of 0.5", { multipleOf: 0.5 }, 1e308, true],
    ["not a number that JSON can say", { type: "number" }, Number.NaN, false],
    ["length counts characters, not units", { maxLength: 1 }, "😀", true],
    [
      "1 and true differ for uniqueItems",
      { uniqueItems: true },
      [1, true, "1", [1], { a: 1 }, { a: true }],
      true,
    ],
    [
      "member order does not count",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    ["a text that looks like a key is a text", { enum: ["\u0000{1:a1;}"] }, { a: 1 }, false],
    ["-0 is 0", { const: 0 }, -0, true],
    ["undefined members are absent", { required: ["a"] }, { a: undefined }, false],
    ["minContains 0 takes all", { contains: { type: "string" }, minContains: 0 }, [1], true],
    ["dependentRequired", { dependentRequired: { a: ["b"] } }, { a: 1 }, false],
    [
      "`$dynamicRef` in one resource",
      { $dynamicAnchor: "n", type: "object", properties: { kids: { items: { $dynamicRef: "#n" } } } },
      { kids: [{ kids: [1] }] },
      false,
    ],
    [
      "draft-04's boolean exclusiveMinimum",
      { $schema: "http://json-schema.org/draft-04/schema#", minimum: 0, exclusiveMinimum: true },
      0,
      false,
    ],
  ])("%s", (_name, schema, value, isValid) => {
    expect(accepts(schema, value)).toBe(isValid);
  });

  it("extends a recursive schema through `$dynamicRef`", () => {
    const tree = {
      $id: "https://example.com/strict-tree",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: "https://example.com/tree",
          $dynamicAnchor: "node",
          type: "object",
          properties: { data: true, children: { type: "array", items: { $dynamicRef: "#node" } } },
        },
      },
    };
    expect(accepts(tree, { children: [{ data: 1 }] })).toBe(true);
    expect(accepts(tree, { children: [{ daat: 1 }] })).toBe(false);
  });
});

describe("references", () => {
  it("escapes pointers as RFC 6901 and URIs say", () => {
    const schema = {
      properties: { x: { $ref: "#/$defs/a~1b" }, y: { $ref: "#/$defs/c%25d" }, z: { $ref: "#/$defs/e~0f" } },
      $defs: { "a/b": { type: "string" }, "c%d": { type: "string" }, "e~f": { type: "string" } },
    };
    expect(accepts(schema, { x: "v", y: "v", z: "v" })).toBe(true);
    expect(accepts(schema, { y: 1 })).toBe(false);
  });

  it.each([
    ["http", { $ref: "http://127.0.0.1:1/canary.json" }],
    ["file", { properties: { a: { $ref: "file:///etc/passwd" } } }],
    ["scheme-relative", { $ref: "//host/x" }],
    ["relative to an id", { $id: "http://127.0.0.1:1/base.json", properties: { a: { $ref: "other.json" } } }],
    ["relative to nothing", { $ref: "./other.json#/x" }],
    ["dynamic", { $dynamicRef: "http://127.0.0.1:1/dyn.json#n" }],
    ["a meta-schema", { $ref: "https://json-schema.org/draft/2020-12/schema" }],
  ])(
    "%s: is refused with its text, never fetched and never taken as anything [TOOL-27] [TOOL-31] [TOOL-26] [TOOL-29]",
    (_name, schema) => {
      expect(compileSchema(schema)).toMatchObject({
        ok: false,
        code: "remote_ref",
        reason: expect.stringContaining("nothing is fetched") as string,
      });
    },
  );

  it("tells a reference to nothing from one to elsewhere", () => {
    expect(compileSchema({ properties: { x: { $ref: "#/$defs/Missing" } } })).toMatchObject({
      ok: false,
      code: "dangling_ref",
      pointer: "/properties/x/$ref",
    });
  });

  it("keeps schemas with the same `$id` apart", () => {
    const one = compiled({ $id: "https://x.example/s", type: "string" });
    const other = compiled({ $id: "https://x.example/s", type: "number" });
    expect([one.validate("a").ok, other.validate("a").ok, other.validate(1).ok]).toEqual([true, false, true]);
  });

  it("is not touched by what the caller does to the schema afterwards", () => {
    const schema = { type: "object", properties: { a: { enum: ["x"] } } };
    const check = compiled(schema);
    schema.properties.a.enum.push("y");
    expect(check.validate({ a: "y" }).ok).toBe(false);
  });
});
