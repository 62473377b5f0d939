import { describe, expect, it } from "vitest";
import { compileSchema, type CompileOptions } from "../../../src/jsonschema/compile.ts";

function compiled(schema: unknown, options: CompileOptions = {}) {
  const result = compileSchema(schema, options);
  if (!result.ok) throw new Error(`refused: ${result.code}, ${result.reason}`);
  return result;
}

function accepts(schema: unknown, value: unknown): boolean {
  return compiled(schema).validate(value).ok;
}

function firstIssue(schema: unknown, value: unknown): unknown {
  const verdict = compiled(schema).validate(value);
  return verdict.ok ? undefined : verdict.issues[0];
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
    "%s: is refused with its text, never fetched and never taken as anything [TOOL-26] [TOOL-29]",
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

describe("dialects", () => {
  it.each([
    ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
    ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
    ["http://json-schema.org/draft-07/schema#", "07"],
    ["https://json-schema.org/draft-07/schema", "07"],
    ["http://json-schema.org/draft-06/schema#", "06"],
    ["http://json-schema.org/draft-04/schema#", "04"],
  ])("%s is read as %s [TOOL-23]", ($schema, dialect) => {
    expect(compiled({ $schema, type: "object" })).toMatchObject({ dialect, notes: [] });
  });

  it("reads a schema without `$schema` as 2020-12 [TOOL-22]", () => {
    expect(compiled({ prefixItems: [{ type: "string" }], items: false }).dialect).toBe("2020-12");
  });

  it("says so when it does not know the dialect [TOOL-24]", () => {
    expect(compiled({ $schema: "https://vendor.example/schemas/v9" }).notes).toMatchObject([
      { code: "unknown_dialect", message: expect.stringContaining("not supported") as string },
    ]);
    expect(compileSchema({ $schema: 7 })).toMatchObject({ ok: false, code: "malformed" });
  });
});

describe("shapes", () => {
  it.each([
    ["properties: a list", { properties: ["q"] }],
    ["properties: null", { properties: null }],
    ["required: a string", { required: "q" }],
    ["required: true in a property", { properties: { q: { type: "string", required: true } } }],
    ["an unknown type", { properties: { q: { type: "str" } } }],
    ["no list of types", { type: [] }],
    ["exclusiveMinimum: true in 2020-12", { minimum: 1, exclusiveMinimum: true }],
    ["anyOf: empty", { anyOf: [] }],
    ["minLength: negative", { minLength: -1 }],
    ["multipleOf: 0", { multipleOf: 0 }],
    ["a schema that is a list", []],
    ["a schema that is null", null],
  ])("%s is refused with its place", (_name, schema) => {
    expect(compileSchema(schema)).toMatchObject({ ok: false, code: "malformed" });
  });

  it("bounds size, depth and number before it compiles [TOOL-30]", () => {
    expect(compileSchema({ description: "x".repeat(70_000) })).toMatchObject({
      ok: false,
      code: "too_large",
    });
    expect(compileSchema({ description: "x".repeat(70_000) }, { bounds: { bytes: 100_000 } })).toMatchObject({
      ok: true,
    });
    const deep = (levels: number): unknown => (levels === 0 ? {} : { properties: { n: deep(levels - 1) } });
    expect(compileSchema(deep(60))).toMatchObject({ ok: true });
    expect(compileSchema(deep(70))).toMatchObject({ ok: false, code: "too_deep" });
    const many = { anyOf: Array.from({ length: 50 }, () => ({})) };
    expect(compileSchema(many, { bounds: { subschemas: 20 } })).toMatchObject({
      ok: false,
      code: "too_many_subschemas",
    });
    expect(compileSchema(many, { bounds: { expansion: 20 } })).toMatchObject({
      ok: false,
      code: "too_complex",
    });
  });

  it("does not mistake $defs that double along the value for work", () => {
    const $defs: Record<string, unknown> = { d0: { type: "string" } };
    for (let level = 1; level <= 20; level += 1) {
      const half = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { type: "object", properties: { a: half, b: half } };
    }
    expect(accepts({ properties: { x: { $ref: "#/$defs/d20" } }, $defs }, { x: { a: { b: {} } } })).toBe(
      true,
    );
  });
});

describe("patterns", () => {
  it("leaves out what no engine here can do, and says so", () => {
    const check = compiled({
      properties: {
        a: { pattern: "(a)\\1" },
        b: { pattern: "(?P<y>\\d)" },
        c: { pattern: "[" },
        d: { pattern: "\\A[a-z]+\\z" },
      },
    });
    expect(check.notes.map((note) => [note.code, note.pointer])).toEqual([
      ["pattern_not_enforced", "/properties/a/pattern"],
      ["pattern_not_enforced", "/properties/b/pattern"],
      ["pattern_not_enforced", "/properties/c/pattern"],
      ["pattern_not_enforced", "/properties/d/pattern"],
    ]);
    expect(check.validate({ a: "zz", b: "x", c: "x", d: "abc" }).ok).toBe(true);
  });

  it("refuses the schema where leaving it out would turn a no into a yes, or on request", () => {
    expect(compileSchema({ not: { pattern: "(a)\\1" } })).toMatchObject({
      ok: false,
      code: "unsupported_pattern",
    });
    expect(compileSchema({ oneOf: [{ pattern: "(a)\\1" }, { type: "number" }] })).toMatchObject({
      ok: false,
      code: "unsupported_pattern",
    });
    expect(compileSchema({ pattern: "(a)\\1" }, { unsupportedPatterns: "refuse" })).toMatchObject({
      ok: false,
      code: "unsupported_pattern",
    });
  });

  it("does not call a property additional that an unenforced pattern may name", () => {
    const schema = { patternProperties: { "(a)\\1": { type: "string" } }, additionalProperties: false };
    expect(accepts(schema, { aa: 1 })).toBe(true);
  });

  it("enforces lookarounds that are linear", () => {
    expect(accepts({ pattern: "^(?!.*--)[a-z-]+$" }, "a-b")).toBe(true);
    expect(accepts({ pattern: "^(?!.*--)[a-z-]+$" }, "a--b")).toBe(false);
    expect(accepts({ pattern: "(?<!x)y" }, "xy")).toBe(false);
  });
});

describe("issues", () => {
  it.each<[string, unknown, unknown, unknown]>([
    [
      "a type",
      { properties: { n: { type: "integer" } } },
      { n: "5" },
      { path: "/n", keyword: "type", message: "is a string", expected: "an integer" },
    ],
    [
      "a missing property",
      { required: ["n"], properties: { n: { type: "integer" } } },
      {},
      { path: "/n", keyword: "required", message: '"n" is missing', expected: "a value of type integer" },
    ],
    [
      "an unknown property and the nearest one",
      { properties: { state: {}, title: {} }, additionalProperties: false },
      { stat: 1 },
      {
        path: "/stat",
        keyword: "additionalProperties",
        message: 'unknown property "stat"',
        expected: 'one of "state", "title"',
        nearest: "state",
      },
    ],
    [
      "an enum and the nearest value",
      { enum: ["open", "closed"] },
      "opne",
      {
        path: "",
        keyword: "enum",
        message: '"opne" is not allowed',
        expected: 'one of "open", "closed"',
        nearest: "open",
      },
    ],
    [
      "alternatives that differ by type",
      { anyOf: [{ type: "string" }, { type: "integer" }] },
      [],
      { path: "", keyword: "type", message: "is an array", expected: "a string or an integer" },
    ],
    ["a number", { maximum: 5 }, 6, { path: "", keyword: "maximum", message: "is 6", expected: "5 or less" }],
    [
      "a pointer with slashes",
      { properties: { "a/b": { properties: { "~": { type: "null" } } } } },
      { "a/b": { "~": 1 } },
      { path: "/a~1b/~0", keyword: "type", message: "is an integer", expected: "null" },
    ],
  ])("%s", (_name, schema, value, issue) => {
    expect(firstIssue(schema, value)).toEqual(issue);
  });

  it("goes into the alternative that was meant", () => {
    const schema = {
      oneOf: [
        {
          properties: { kind: { const: "circle" }, radius: { type: "number" } },
          required: ["kind", "radius"],
        },
        { properties: { kind: { const: "square" }, side: { type: "number" } }, required: ["kind", "side"] },
      ],
    };
    const verdict = compiled(schema).validate({ kind: "square", side: "3" });
    expect(verdict.ok ? [] : verdict.issues.map((issue) => [issue.path, issue.keyword])).toEqual([
      ["", "oneOf"],
      ["/side", "type"],
    ]);
  });

  it("tells no more than twenty, each short, hidden characters escaped", () => {
    const value = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`${"\u202e"}${"x".repeat(300)}${at}`, at]),
    );
    const verdict = compiled({
      additionalProperties: { type: "string" },
      propertyNames: { maxLength: 3 },
    }).validate(value);
    if (verdict.ok) throw new Error("it fits");
    expect(verdict.issues.length).toBeLessThanOrEqual(20);
    const named = verdict.issues.find((issue) => issue.keyword === "propertyNames");
    expect(named?.message.length).toBeLessThan(140);
    expect(named?.message).toContain("\\u{202e}");
  });
});
