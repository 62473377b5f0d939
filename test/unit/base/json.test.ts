import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, digestJson, type JsonValue } from "../../../src/base/json.ts";

/** What the text has to be, member by member. */
function expected(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => expected(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${expected(member)}`).join(",")}}`;
}

describe("canonical JSON", () => {
  it("is the same for every value, whether its members stand in order or not", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(text).toBe(expected(value));
        // The second time the members stand in order.
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it.each<[string, unknown, string]>([
    ["members that are undefined", { b: [undefined, 1], a: undefined }, '{"b":[null,1]}'],
    ["numbers as names", { 10: 1, 9: 2, a: 3 }, '{"10":1,"9":2,"a":3}'],
    ["odd numbers", [Number.NaN, -0, 1e21], "[null,0,1e+21]"],
    ["lone surrogates", "\ud800", '"\\ud800"'],
    ["a date, whose own way to JSON does not count", { at: new Date(0) }, '{"at":{}}'],
    ["`__proto__`", JSON.parse('{"a":2,"__proto__":1}'), '{"__proto__":1,"a":2}'],
    ["no prototype", Object.assign(Object.create(null) as object, { b: 1, a: 2 }), '{"a":2,"b":1}'],
  ])("takes %s", (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("has the same digest whatever the order of the members", () => {
    expect(digestJson({ b: 1, a: { d: 2, c: 3 } })).toBe(digestJson({ a: { c: 3, d: 2 }, b: 1 }));
    expect(digestJson({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });

  it("ends at a depth of 512", () => {
    let value: JsonValue = 1;
    for (let level = 0; level < 600; level += 1) value = [value];
    expect(() => canonicalJson(value)).toThrow(RangeError);
  });
});
