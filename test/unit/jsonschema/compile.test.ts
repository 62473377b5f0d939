import { readFileSync } from "node:fs";
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

  it("are named in the guide [TOOL-25]", () => {
    const guide = readFileSync(new URL("../../../docs/guides/tools-for-models.md", import.meta.url), "utf8");
    const section = /## Schemas\n([\s\S]*?)\n## /.exec(guide)?.[1] ?? "";
    for (const dialect of ["2020-12", "2019-09", "07", "06", "04"]) expect(section).toContain(dialect);
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
