import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  byteLength,
  cleanData,
  cleanForModel,
  cleanForPerson,
  clip,
  oneLine,
  splitAtBytes,
  visibleSample,
} from "../../src/text/clean.ts";

/** Any code unit, with what matters much more often: controls, bidi, tags, selectors, joiners, halves of pairs, emoji. */
const anyText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
      { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
      {
        weight: 3,
        arbitrary: fc.integer({ min: 0xe0000, max: 0xe007f }).map((code) => String.fromCodePoint(code)),
      },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "\x1b",
          "\x1b[",
          "\x1b]",
          "\x1b\\",
          "\x07",
          "\x9b",
          "\x9d",
          "\x9c",
          "8m",
          "0;",
          "\r",
          "\n",
          "\r\n",
          "\t",
          "\0",
          "\x7f",
          "\u200b",
          "\u200c",
          "\u200d",
          "\u202e",
          "\u2066",
          "\u2028",
          "\ufeff",
          "\u00ad",
          "\ufe0f",
          "\ufe00",
          "\u{e0100}",
          "👨",
          "👩",
          "🏽",
          "❤",
          "🏴",
          "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
          "1",
          "ك",
          "क",
          "葛",
          "\u180b",
          "ᠮ",
          "\ud83d",
          "\ude00",
        ),
      },
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

/** Everything that may not reach a terminal, whatever is around it. */
const TERMINAL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0001}-\u{e001f}]/u;
const FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
const TAGS = /[\u{e0000}-\u{e007f}]/u;

const runs = { numRuns: 3_000 };

describe("clean, over all of Unicode", () => {
  it("lets nothing through to a terminal but what is visible", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = cleanForPerson(text);
        expect(shown).not.toMatch(TERMINAL);
        expect(shown.replace(FLAG, "")).not.toMatch(TAGS);
        expect(shown.isWellFormed()).toBe(true);
      }),
      runs,
    );
  });

  it("lets nothing invisible through to a model", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const seen = cleanForModel(text);
        expect(seen).not.toMatch(TERMINAL);
        expect(seen.replace(FLAG, "")).not.toMatch(TAGS);
        expect(seen.isWellFormed()).toBe(true);
        expect(seen.length).toBeLessThanOrEqual(text.length);
      }),
      runs,
    );
  });

  it("is idempotent, and data is clean but for Windows line ends", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const clean of [cleanForPerson, cleanForModel, cleanData]) {
          const once = clean(text);
          expect(clean(once)).toBe(once);
        }
        expect(cleanData(text).replaceAll("\r\n", "\n")).toBe(cleanForPerson(text));
      }),
      runs,
    );
  });

  it("leaves visible text alone, byte for byte", () => {
    const visible = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0x10ffff })
        .map((code) =>
          /^[\p{L}\p{N}\p{P}\p{S} ]$/u.test(String.fromCodePoint(code)) ? String.fromCodePoint(code) : "x",
        ),
    });
    // Letters that are fillers of Hangul and a braille blank look like nothing.
    const ordinary = visible.map((text) => text.replace(/[\u115f\u1160\u3164\uffa0]/gu, "x"));
    fc.assert(
      fc.property(ordinary, (text) => {
        expect(cleanForPerson(text)).toBe(text);
        expect(cleanForModel(text)).toBe(text);
      }),
      runs,
    );
  });

  it("grows at most by a constant factor", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(cleanForPerson(text).length).toBeLessThanOrEqual(9 * text.length + 40);
      }),
      runs,
    );
  });
});

describe("cutting, over all of Unicode", () => {
  it("keeps to the limit and tears no pair that was whole", () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, max) => {
        const clipped = clip(text, max);
        expect(clipped.length).toBeLessThanOrEqual(Math.max(max, 0));
        if (text.isWellFormed()) expect(clipped.isWellFormed()).toBe(true);
        expect(oneLine(text, max).length).toBeLessThanOrEqual(max);
        const line = oneLine(text, max);
        expect(line).not.toMatch(/[\n\t]/);
        expect(cleanForPerson(line)).toBe(line);
        expect(visibleSample(text, max)).not.toMatch(TERMINAL);
      }),
      runs,
    );
  });

  it("splits at bytes without losing any", () => {
    fc.assert(
      fc.property(anyText, fc.nat(120), (text, max) => {
        const { head, tail } = splitAtBytes(text, max);
        expect(head + tail).toBe(text);
        expect(byteLength(head)).toBeLessThanOrEqual(max);
        if (text.isWellFormed()) expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
      }),
      runs,
    );
  });
});
