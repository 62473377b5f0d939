import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../src/jsonschema/compile.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkArguments, type ArgumentsDefinition } from "../../../src/registry/arguments.ts";

function definitionOf(inputSchema: JsonObject): ArgumentsDefinition {
  const compiled = compileSchema(inputSchema);
  if (!compiled.ok) throw new Error(compiled.reason);
  return { inputSchema, compiled };
}

const open = definitionOf({ type: "object", properties: { a: { type: "integer" } } });

const issueSchema = definitionOf({
  type: "object",
  properties: {
    number: { type: "integer" },
    state: { enum: ["open", "closed"] },
    labels: { type: "array", items: { type: "string" } },
    milestone: { type: "string" },
    nested: { type: "object", properties: { deep: { type: "array", items: { type: "integer" } } } },
    perPage: { type: "integer", default: 30 },
    wrong: { type: "integer", default: "many" },
    maybe: { type: ["string", "null"] },
  },
  required: ["number"],
  additionalProperties: false,
});

describe("arguments that come in odd forms", () => {
  it.each<[string, unknown, unknown]>([
    ["undefined", undefined, {}],
    ["null", null, {}],
    ["an empty text", "", {}],
    ["blanks", "  ", {}],
    ["an empty object as text", "{}", {}],
    ["null as text", "null", {}],
    ["an object as text", '{"a":1}', { a: 1 }],
    ["fenced text", '```json\n{"a":1}\n```', { a: 1 }],
    ["a lone surrogate", { b: "\ud800" }, { b: "\ud800" }],
    ["undefined members", { a: 1, b: undefined }, { a: 1 }],
  ])("%s", (_name, input, expected) => {
    expect(checkArguments(open, input)).toMatchObject({ ok: true, arguments: expected });
  });

  it.each<[string, unknown]>([
    ["a key twice, of which readers could take either", '{"a":1,"a":2}'],
    ["a number that would become another", '{"a":9007199254740993}'],
    ["twice encoded", '"{\\"a\\":1}"'],
    ["cut off", '{"a":'],
    ["an array", [1]],
    ["an array as text", "[1]"],
    ["a number", 5],
    ["a boolean", true],
    ["a number that JSON has not", { a: Number.POSITIVE_INFINITY }],
    ["a date", { a: new Date(0) }],
    ["a function", { a: () => 1 }],
    ["a bigint", { a: 1n }],
  ])("%s is an error with a hint, never an empty object", (_name, input) => {
    const verdict = checkArguments(open, input);
    expect(verdict.ok).toBe(false);
    expect(verdict.ok ? "" : verdict.hint).toMatch(/expected/);
  });

  it("keeps `__proto__` as the ordinary name that it is", () => {
    const verdict = checkArguments(definitionOf({ type: "object" }), JSON.parse('{"__proto__":{"x":1}}'));
    if (!verdict.ok) throw new Error(verdict.hint);
    expect(JSON.stringify(verdict.arguments)).toBe('{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(verdict.arguments)).toBe(Object.prototype);
  });

  it("says what it repaired", () => {
    const verdict = checkArguments(issueSchema, '{"number":1,"labels":"[\\"bug\\"]","milestone":null}');
    expect(verdict).toMatchObject({ ok: true, arguments: { number: 1, labels: ["bug"], perPage: 30 } });
    expect(verdict.ok ? verdict.notes : []).toEqual([
      "the arguments came as text and were read as JSON",
      '"labels" came as text and was read as JSON',
      '"milestone" was null and is left out',
      '"perPage" was filled in with its default',
    ]);
  });

  it("repairs inside objects as well", () => {
    expect(checkArguments(issueSchema, { number: 1, nested: { deep: "[1,2]" } })).toMatchObject({
      ok: true,
      arguments: { nested: { deep: [1, 2] } },
    });
  });

  it("coerces nothing", () => {
    const verdict = checkArguments(issueSchema, { number: "5" });
    expect(verdict).toMatchObject({ ok: false, hint: "/number: is a string, expected an integer" });
  });

  it("leaves null where the schema takes it, and where the property is required", () => {
    expect(checkArguments(issueSchema, { number: 1, maybe: null })).toMatchObject({
      ok: true,
      arguments: { maybe: null },
    });
    expect(checkArguments(issueSchema, { number: null })).toMatchObject({ ok: false });
  });

  it("does not let a default that is wrong stand in the way", () => {
    const verdict = checkArguments(issueSchema, { number: 1 });
    expect(verdict).toMatchObject({ ok: true, arguments: { number: 1, perPage: 30 } });
    expect(verdict.ok && "wrong" in verdict.arguments).toBe(false);
  });

  it("follows local references to defaults and to what is required", () => {
    const definition = definitionOf({
      type: "object",
      properties: { page: { $ref: "#/$defs/page" }, size: { $ref: "#/$defs/size" } },
      $defs: {
        page: { type: "object", properties: { at: { type: "integer", default: 1 } } },
        size: { type: "integer", default: 10 },
      },
    });
    expect(checkArguments(definition, { page: {}, size: null })).toMatchObject({
      ok: true,
      arguments: { page: { at: 1 } },
    });
    expect(checkArguments(definition, {})).toMatchObject({ ok: true, arguments: { size: 10 } });
  });

  it("gives back a copy that the caller cannot change any more", () => {
    const input = { a: 1, list: [1] };
    const verdict = checkArguments(definitionOf({ type: "object" }), input);
    input.list.push(2);
    expect(verdict).toMatchObject({ ok: true, arguments: { list: [1] } });
  });

  it("bounds depth and size", () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 200; level += 1) deep = { deep };
    expect(checkArguments(open, deep)).toMatchObject({ ok: false });
    expect(checkArguments(open, { list: Array.from({ length: 250_000 }, () => 1) })).toMatchObject({
      ok: false,
    });
  });
});

describe("hints", () => {
  it("names the nearest property and value, never the whole schema", () => {
    const verdict = checkArguments(issueSchema, { number: 1, stat: "open", state: "opne" });
    expect(verdict.ok ? "" : verdict.hint.split("\n")).toEqual([
      expect.stringMatching(
        /^\/stat: unknown property "stat", expected one of .* \(did you mean "state"\?\)$/,
      ),
      '/state: "opne" is not allowed, expected one of "open", "closed" (did you mean "open"?)',
    ]);
  });

  it("stays short whatever is wrong", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `p${at}`,
        { enum: Array.from({ length: 30 }, (__, member) => `value-${member}`) },
      ]),
    );
    const definition = definitionOf({ type: "object", properties, required: Object.keys(properties) });
    const verdict = checkArguments(
      definition,
      Object.fromEntries(Object.keys(properties).map((name) => [name, "x".repeat(5_000)])),
    );
    expect(verdict.ok ? 0 : verdict.hint.length).toBeLessThan(1_500);
    expect(verdict.ok ? 0 : verdict.hint.split("\n").length).toBeLessThan(10);
  });

  it("escapes hidden characters in names of strangers", () => {
    const definition = definitionOf({
      type: "object",
      properties: { "a\u202eb\u001b[8m": { type: "string" } },
    });
    const verdict = checkArguments(definition, { "a\u202eb\u001b[8m": 1 });
    expect(verdict.ok ? "" : verdict.hint).toMatch(/^[\x20-\x7e]+$/);
  });
});
