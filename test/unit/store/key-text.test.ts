import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromStoredKey, toStoredKey } from "../../../src/store/key-text.ts";

/** Texts with everything that is special in them, more often than chance would have it. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom("\u0000", "\u0001", "\u0002", "\u0003", "\ud800", "\udfff", "d800"),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
  )
  .map((parts) => parts.join(""));

describe("stored keys", () => {
  it("hold no NUL and no half of a pair, and give back what was stored", () => {
    fc.assert(
      fc.property(texts, (key) => {
        const stored = toStoredKey(key);
        expect(stored.includes("\u0000")).toBe(false);
        expect(stored.isWellFormed()).toBe(true);
        expect(fromStoredKey(stored)).toBe(key);
      }),
    );
  });

  it("keep order and prefixes of well-formed text", () => {
    const compare = (one: string, other: string): number =>
      Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const wellFormed = texts.map((text) => text.toWellFormed());
    fc.assert(
      fc.property(wellFormed, wellFormed, (one, other) => {
        expect(compare(toStoredKey(one), toStoredKey(other))).toBe(compare(one, other));
        expect(toStoredKey(`${one}${other}`).startsWith(toStoredKey(one))).toBe(true);
      }),
    );
  });
});
