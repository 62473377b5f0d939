import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChallenges, readChallenge, readScopes } from "../../../src/auth/challenge.ts";

const plain = (header: string): unknown =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

describe("parseChallenges [AUTH-06]", () => {
  it.each([
    ['Bearer realm="x"', [["bearer", { realm: "x" }]]],
    ["Bearer", [["bearer", {}]]],
    ["bearer ERROR=invalid_token", [["bearer", { error: "invalid_token" }]]],
    [
      'Basic realm="a, b", Bearer error="x"',
      [
        ["basic", { realm: "a, b" }],
        ["bearer", { error: "x" }],
      ],
    ],
    [
      "Negotiate abc==, Bearer a=b",
      [
        ["negotiate", {}],
        ["bearer", { a: "b" }],
      ],
    ],
    [
      "Negotiate, Bearer a=b",
      [
        ["negotiate", {}],
        ["bearer", { a: "b" }],
      ],
    ],
    ['Bearer a="\\"q\\" \\\\ \\x"', [["bearer", { a: '"q" \\ x' }]]],
    ['Bearer a = "1" , b = 2', [["bearer", { a: "1", b: "2" }]]],
    ["Bearer u=https://h.example:8443/x?y=1", [["bearer", { u: "https://h.example:8443/x?y=1" }]]],
    ['Bearer a="first", a="second"', [["bearer", { a: "first" }]]],
    ['Bearer a="open', [["bearer", { a: "open" }]]],
    ['Bearer __proto__="x"', [["bearer", Object.fromEntries([["__proto__", "x"]])]]],
    [",, ,Bearer a=b,, ,", [["bearer", { a: "b" }]]],
    ["", []],
    ["=x", []],
    ['"quoted"', []],
  ])("%s", (header, expected) => {
    expect(plain(header)).toEqual(expected);
  });

  it("is bounded in number and linear in length", () => {
    expect(parseChallenges("a ".repeat(10_000)).length).toBeLessThanOrEqual(16);
    const started = process.hrtime.bigint();
    for (const piece of ['Bearer a="', "a=", 'a="\\', "Bearer ,", "a a a "])
      parseChallenges(piece.repeat(100_000));
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(500);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        (text) => parseChallenges(text).length <= 16,
      ),
    );
  });

  it("reads back what a server wrote", () => {
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      maxLength: 40,
    });
    fc.assert(
      fc.property(text, (value) => {
        const header = `Basic realm="x", Bearer k="${value.replaceAll(/["\\]/g, "\\$&")}", z=1`;
        expect(plain(header)).toEqual([
          ["basic", { realm: "x" }],
          ["bearer", { k: value, z: "1" }],
        ]);
      }),
    );
  });
});

describe("readChallenge", () => {
  const none = { scheme: "other", resourceMetadata: null, scopes: null, error: null };

  it("takes the challenge of a token scheme that names its metadata [AUTH-07]", () => {
    expect(
      readChallenge('Bearer realm="x", DPoP resource_metadata="https://a.example/m", algs="ES256"'),
    ).toEqual({
      ...none,
      scheme: "dpop",
      resourceMetadata: "https://a.example/m",
    });
    expect(readChallenge('Basic realm="x", Bearer scope="b a b", error="insufficient_scope"')).toEqual({
      ...none,
      scheme: "bearer",
      scopes: ["b", "a"],
      error: "insufficient_scope",
    });
    expect(readChallenge(undefined)).toEqual(none);
    expect(readChallenge("nonsense;;;")).toEqual(none);
  });

  it("drops an error that is no OAuth error code, and scopes that are none", () => {
    expect(readChallenge('Bearer error="<b>x</b>"').error).toBeNull();
    expect(readScopes(`ok "quoted" \u00e9 ${"x".repeat(300)} fine`)).toEqual(["ok", "fine"]);
    expect(readScopes("   ")).toBeNull();
    expect(readScopes(Array.from({ length: 500 }, (_one, index) => `s${index}`).join(" "))).toHaveLength(100);
  });
});
