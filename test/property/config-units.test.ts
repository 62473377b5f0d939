import fc from "fast-check";
import { expect, it } from "vitest";
import { formatDuration, MAX_DURATION_MS, parseDuration } from "../../src/config/duration.ts";
import { compareRules, matchesPattern } from "../../src/config/pattern.ts";
import { nearestName } from "../../src/config/nearest.ts";
import { parseTemplate } from "../../src/config/references.ts";
import { formatSize, parseSize } from "../../src/config/size.ts";
import { GRADES } from "../../src/vocabulary.ts";

it("durations survive the way through text", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), (durationMs) => {
      expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
    }),
  );
});

it("a duration is read as written, or not at all", () => {
  const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const units = fc.constantFrom(...(Object.keys(unitMs) as (keyof typeof unitMs)[]));
  fc.assert(
    fc.property(fc.nat(2_000_000), units, (count, unit) => {
      const wantedMs = count * unitMs[unit];
      expect(parseDuration(`${count}${unit}`)).toBe(wantedMs <= MAX_DURATION_MS ? wantedMs : null);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const durationMs = parseDuration(text);
      if (durationMs !== null) expect(text).toMatch(/^\d+(ms|s|m|h|d)$/);
    }),
  );
});

it("sizes survive the way through text", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (bytes) => {
      expect(parseSize(formatSize(bytes))).toBe(bytes);
    }),
  );
});

it("patterns match what their stars were filled with", () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "_", ".") }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      parts,
      fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c") }), { maxLength: 5 }),
      (literals, fillings) => {
        const name = literals
          .map((literal, index) => literal + (index < literals.length - 1 ? (fillings[index] ?? "") : ""))
          .join("");
        expect(matchesPattern(literals.join("*"), name)).toBe(true);
      },
    ),
  );
});

it("patterns match like the regular expression that they stand for", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 8 });
  fc.assert(
    fc.property(text, fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 }), (pattern, name) => {
      const source = pattern
        .split("*")
        .map((part) => part.replaceAll(".", "\\."))
        .join(".*");
      expect(matchesPattern(pattern, name)).toBe(new RegExp(`^${source}$`, "s").test(name));
    }),
    { numRuns: 2_000 },
  );
});

it("the order of rules is total and does not depend on where they stood", () => {
  const rule = fc.record({
    pattern: fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 5 }),
    grade: fc.constantFrom(null, ...GRADES),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(rule, { selector: ({ pattern }) => pattern, maxLength: 8 }),
      fc.nat(),
      (rules, seed) => {
        const rotated = [
          ...rules.slice(seed % (rules.length + 1)),
          ...rules.slice(0, seed % (rules.length + 1)),
        ];
        expect(rotated.toSorted(compareRules)).toEqual(rules.toSorted(compareRules));
      },
    ),
  );
});

it("a template is split without loss", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("$", "{", "}", "A", ":", "-", "e", "n", "v", " "), maxLength: 20 }),
      (text) => {
        const parsed = parseTemplate(text);
        if (!parsed.ok) return;
        const again = parsed.parts
          .map((part) => (part.kind === "text" ? part.text.replaceAll("${", () => "$${") : part.source))
          .join("");
        expect(again).toBe(text);
      },
    ),
    { numRuns: 5_000 },
  );
});

it("the nearest name is one of the candidates, and a name is nearest to itself", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 10 }), { minLength: 1 }),
      fc.string(),
      (names, name) => {
        const near = nearestName(name, names);
        if (near !== null) expect(names).toContain(near);
        const own = names[0] ?? "";
        expect(nearestName(own, names)?.toLowerCase().replaceAll(/[-_]/g, "")).toBe(
          own.toLowerCase().replaceAll(/[-_]/g, ""),
        );
      },
    ),
  );
});
