import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, type JsonValue } from "../../../src/base/json.ts";
import { canonicalText } from "../../../src/store/canonical-text.ts";

describe("canonical text", () => {
  it("is that of `canonicalJson` for every value, in order or not", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalText(value as JsonValue);
        expect(text).toBe(canonicalJson(value));
        // The second time the members stand in order.
        expect(canonicalText(JSON.parse(text) as JsonValue)).toBe(text);
      }),
    );
  });

  it.each<[string, unknown]>([
    ["members that are undefined", { a: undefined, b: [undefined, 1], c: { d: undefined } }],
    ["numbers as names", { 10: 1, 9: 2, a: 3 }],
    ["odd numbers", [Number.NaN, -0, 1e21]],
    ["lone surrogates", "\ud800"],
    ["a date", { at: new Date(0) }],
    ["a way of its own to JSON", { toJSON: () => "x", z: 1 }],
    ["`__proto__`", JSON.parse('{"__proto__":1,"a":2}')],
    ["no prototype", Object.assign(Object.create(null) as object, { b: 1, a: 2 })],
  ])("is the same for %s", (_what, value) => {
    expect(canonicalText(value as JsonValue)).toBe(canonicalJson(value));
  });

  it("ends at the same depth", () => {
    let value: JsonValue = 1;
    for (let level = 0; level < 600; level += 1) value = [value];
    expect(() => canonicalText(value)).toThrow(RangeError);
  });
});
