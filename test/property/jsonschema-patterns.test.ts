/** Patterns on our engines against the native engine, on texts too short for backtracking to hurt. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Run } from "../../src/jsonschema/check.ts";
import { planPattern } from "../../src/jsonschema/patterns.ts";

const run = (): Run => ({ steps: 1e9, depth: 0, collector: null, scope: [] });

const atom = fc.constantFrom(
  "a",
  "b",
  "c",
  "\\d",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  ".",
  "[ab]",
  "[^a]",
  "[a-c0-9_]",
  "[^\\s]",
  "[\\S]",
  "[\\w-]",
  "\\.",
  "\\u0061",
  "\\u{1F600}",
  "\\x62",
  "[\\d\\s]",
  "\\p{L}",
  "\\P{L}",
  "\\p{Lu}",
  "\\t",
  "\\n",
  "[\\b]",
  "[^]",
  "\\cA",
  "\\/",
);

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atom,
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"))
      .map(([inner, count]) => `(${inner})${count}`),
    tie("pattern").map((inner) => `(${inner})`),
    fc
      .tuple(tie("pattern"), fc.boolean())
      .map(([inner, isNegated]) => `(?<${isNegated ? "!" : "="}${inner})b`),
    fc.constantFrom("\\b", "\\B", "^", "$").map((assertion) => `(?:${assertion}|a)`),
  ),
}));

const whole = fc.oneof(
  pattern,
  pattern.map((inner) => `^${inner}$`),
  pattern.map((inner) => `^${inner}`),
  fc.tuple(pattern, pattern).map(([ahead, rest]) => `^(?=${ahead})${rest}`),
  fc.tuple(pattern, pattern).map(([ahead, rest]) => `^(?!${ahead})${rest}$`),
);

const text = fc.string({
  unit: fc.constantFrom(
    "a",
    "b",
    "c",
    "A",
    "0",
    " ",
    "\n",
    "\u00a0",
    "\u2028",
    "_",
    "-",
    ".",
    "é",
    "😀",
    "\u0001",
    "/",
  ),
  maxLength: 8,
});

describe("patterns", () => {
  it("answer like ECMAScript wherever they are enforced", () => {
    let enforced = 0;
    let all = 0;
    fc.assert(
      fc.property(whole, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        all += 1;
        const plan = planPattern(source);
        if (!plan.ok) return;
        enforced += 1;
        const test = plan.build();
        const native = new RegExp(source, "u");
        for (const candidate of texts) {
          expect({ source, candidate, matches: test(candidate, run()) }).toEqual({
            source,
            candidate,
            matches: native.test(candidate),
          });
        }
      }),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 3_000) },
    );
    expect(enforced / all).toBeGreaterThan(0.8);
  }, 60_000);
});
