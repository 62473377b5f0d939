import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { cutJson } from "../../../src/audit/cut.ts";

function nest(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe("cutting a value", () => {
  it("leaves one that fits as it is", () => {
    const value: JsonValue = { a: [1, null, true, "text"], b: { c: "x".repeat(50) } };
    expect(cutJson(value, 200)).toEqual({ value, isCut: false });
  });

  it.each<[string, JsonValue, JsonValue]>([
    ["a text", "x".repeat(100), `${"x".repeat(10)}…`],
    ["a list", ["aaaaaaaa", "b", "c"], ["aaaaaa…", "… (2 more)"]],
    ["an object", { aaaaaaaa: "b", c: "d" }, { "aaaaaa…": "…", "…": "more" }],
  ])("ends %s with a mark", (_what, value, expected) => {
    expect(cutJson(value, 10)).toEqual({ value: expected, isCut: true });
  });

  it("ends what is nested too deeply", () => {
    const { value, isCut } = cutJson(nest(10_000), 1_000_000);
    expect(isCut).toBe(true);
    expect(JSON.stringify(value)).toBe(`${"[".repeat(32)}"…"${"]".repeat(32)}`);
  });

  it("takes `__proto__` for a name like any other", () => {
    const value = JSON.parse('{"__proto__":{"a":1}}') as JsonValue;
    expect(JSON.stringify(cutJson(value, 100).value)).toBe('{"__proto__":{"a":1}}');
  });

  it("keeps whatever it is given within the size, or whole", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 200 }), (value, max) => {
        const cut = cutJson(value as JsonValue, max);
        if (!cut.isCut) expect(cut.value).toEqual(value);
        // Escapes may make a text longer, and every member or item costs a little.
        expect(JSON.stringify(cut.value).length).toBeLessThanOrEqual(max * 6 + 100);
      }),
    );
  });
});
