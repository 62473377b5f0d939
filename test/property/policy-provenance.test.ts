import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createProvenance } from "../../src/policy/provenance.ts";
import { createScanKey, scanValues } from "../../src/policy/value-scan.ts";

const KEY = Buffer.alloc(32, 9);
const LABELS = { isPrivate: true, isUntrusted: true, isExternal: false };

/** Words that are values whatever stands around them. */
const secret = fc.stringMatching(/^[A-Za-z]{3,6}[0-9]{2}[A-Za-z0-9_]{7,20}$/);
const around = fc.stringMatching(/^[ a-z\n"'(){}[\],;<>|]{0,40}$/);

describe("provenance", () => {
  it("finds a value between whatever separates words, in both texts", () => {
    fc.assert(
      fc.property(secret, around, around, around, around, (value, a, b, c, d) => {
        const provenance = createProvenance({ key: KEY, conversation: "c" });
        provenance.observe("x y", `${a} ${value} ${b}`, LABELS);
        expect(provenance.check({ body: `${c} ${value} ${d}` })).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it("survives JSON: a value in an output is found in its serialised form as well", () => {
    fc.assert(
      fc.property(secret, fc.json({ maxDepth: 2 }), (value, other) => {
        const provenance = createProvenance({ key: KEY, conversation: "c" });
        provenance.observe("x y", JSON.stringify({ other: JSON.parse(other) as unknown, value }), LABELS);
        expect(provenance.check({ body: value })).toHaveLength(1);
      }),
      { numRuns: 1_000 },
    );
  });

  it("finds nothing where nothing was copied", () => {
    fc.assert(
      fc.property(fc.array(secret, { maxLength: 20 }), secret, (values, other) => {
        fc.pre(!values.some((value) => value.toLowerCase() === other.toLowerCase()));
        const provenance = createProvenance({ key: KEY, conversation: "c" });
        provenance.observe("x y", values.join(" "), LABELS);
        expect(provenance.check({ body: other })).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("reads any text whatever, gives hashes that are never 0 and places inside it", () => {
    const key = createScanKey(KEY);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.boolean(), (text, isEscaped) => {
        const bytes = Buffer.byteLength(text);
        scanValues(text, key, isEscaped, (one, two, kind, start, end) => {
          expect(one).not.toBe(0);
          expect(two).not.toBe(0);
          expect(kind).toBeLessThan(7);
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(bytes);
        });
      }),
      { numRuns: 3_000 },
    );
  });
});
