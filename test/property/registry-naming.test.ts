import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposeName, isReservedName, splitName } from "../../src/registry/naming.ts";

const readable = fc.string({
  unit: fc.constantFrom("a", "b", "_", "-", "A", "1", "."),
  minLength: 1,
  maxLength: 12,
});
const name = fc.oneof(
  readable,
  fc.string({ unit: "binary", minLength: 1, maxLength: 80 }),
  fc.string({ unit: fc.constantFrom("a", "_"), minLength: 1, maxLength: 100 }),
  fc.constantFrom("portcullis", "portcullis_", "__", "_", "a__b", "create_repository"),
);
const length = fc.integer({ min: 24, max: 128 });

describe("exposed names", () => {
  it("are always letters, digits, `_` and `-`, within their length, with a letter first, never reserved", () => {
    fc.assert(
      fc.property(name, name, length, (server, tool, maxLength) => {
        const exposed = exposeName(server, tool, maxLength);
        expect(exposed).toMatch(/^[A-Za-z][A-Za-z0-9_-]*$/);
        expect(exposed.length).toBeLessThanOrEqual(maxLength);
        expect(isReservedName(exposed)).toBe(false);
      }),
    );
  });

  it("differ for different tools, whatever their servers and lengths", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, name), { selector: (pair) => JSON.stringify(pair), maxLength: 40 }),
        length,
        (pairs, maxLength) => {
          const exposed = pairs.map(([server, tool]) => exposeName(server, tool, maxLength));
          expect(new Set(exposed).size).toBe(pairs.length);
        },
      ),
    );
  });

  it("lead back: a name that can be taken apart is that of its parts and of nothing else", () => {
    fc.assert(
      fc.property(name, name, (server, tool) => {
        const parts = splitName(exposeName(server, tool, 128));
        if (parts !== undefined) expect(parts).toEqual({ server, tool });
      }),
    );
  });
});
