import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInexact } from "../../../src/base/exact-json.ts";
import { parseJson } from "../../../src/base/json.ts";

const find = (text: string): string | undefined => findInexact(text, parseJson(text) ?? null);

describe("what a text says and its value does not", () => {
  const twice = "this key stands here twice: remove one of them";
  const proto = "`__proto__` cannot be a name: choose another";
  it.each<[string, string | undefined]>([
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', undefined],
    ['{"a":1,"a":1}', `line 1, column 8: ${twice}`],
    ['{"a":{},"a":{"b":1}}', `line 1, column 9: ${twice}`],
    ['{\n  "a": 1,\r\n  "b": [ { "c": 1, "c": 2 } ]\n}', `line 3, column 20: ${twice}`],
    ['{"a":1,"\\u0061":2}', `line 1, column 8: ${twice}`],
    ['{"a\\":{":1,"a\\":{" : 2}', `line 1, column 12: ${twice}`],
    ['{"__proto__":{"x":1}}', `line 1, column 2: ${proto}`],
    ['[{"a":{"\\u005f_proto__":1}}]', `line 1, column 8: ${proto}`],
    ['{"a":"__proto__","b":["a","a"],"constructor":1,"toString":2}', undefined],
    ['{"a":":\\":\\\\","b":"{\\"a\\":1,\\"a\\":2}"}', undefined],
  ])("%s", (text, expected) => {
    expect(find(text)).toBe(expected);
  });

  it("is nothing in any text that was written from a value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const text = JSON.stringify(
          value,
          (_name, one: unknown) => (typeof one === "number" && Math.abs(one) > 2 ** 53 ? 0 : one),
          indent,
        );
        fc.pre(!text.includes("__proto__"));
        expect(find(text)).toBeUndefined();
      }),
    );
  });

  it("is any key given twice, wherever it stands", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value: unknown, name) => {
        const key = JSON.stringify(name);
        const text = `{"before":${JSON.stringify(value)},"in":[{${key}:${JSON.stringify(value)},${key}:1}]}`;
        expect(find(text)).toMatch(name === "__proto__" ? proto : twice);
      }),
    );
  });

  it("stays quick in a text of many levels and of many keys", () => {
    const deep = `${'{"a":['.repeat(100_000)}${"]}".repeat(100_000)}`;
    expect(find(deep)).toBeUndefined();
    const wide = `{${Array.from({ length: 100_000 }, (_none, at) => `"k${at}":1`).join(",")},"k0":1}`;
    expect(find(wide)).toContain(twice);
  });
});

describe("a number that would be read as another", () => {
  it.each<[string, string | undefined]>([
    ['{"n":9007199254740991}', undefined],
    ['{"n":9007199254740993}', "9007199254740993"],
    ['{"a":[{"n":-9007199254740995}]}', "-9007199254740995"],
    ['{"n":100000000000000000000}', undefined],
    ['{"n":0.12345678901234567890,"zero":-0}', undefined],
    ['{"text":"9007199254740993, 1e400"}', undefined],
    ['{"n":1e308}', undefined],
    ['{"n":1e400}', "1e400"],
    ['{"n":[-1E+999]}', "-1E+999"],
    [`{"n":1${"0".repeat(400)}.5}`, `1${"0".repeat(39)}…`],
  ])("%s", (text, expected) => {
    if (expected === undefined) expect(find(text)).toBeUndefined();
    else expect(find(text)).toMatch(expected + " cannot be carried exactly");
  });
});
