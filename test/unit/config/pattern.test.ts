import { describe, expect, it } from "vitest";
import { matchesPattern } from "../../../src/config/pattern.ts";

describe("matchesPattern", () => {
  it.each([
    ["read_file", "read_file", true],
    ["read_file", "read_files", false],
    ["read_*", "read_", true],
    ["read_*", "read_file", true],
    ["read_*", "xread_file", false],
    ["*", "", true],
    ["*", "anything", true],
    ["*_file", "read_file", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "acb", false],
    ["a.c", "abc", false],
    ["a+", "aa", false],
    ["[a]", "[a]", true],
    ["", "", true],
    ["", "a", false],
    ["a**b", "ab", true],
  ])("%s on %s: %s", (pattern, name, fits) => {
    expect(matchesPattern(pattern, name)).toBe(fits);
  });

  it("does not explode on many stars", () => {
    const start = performance.now();
    expect(matchesPattern(`${"a*".repeat(8)}b`, "a".repeat(5_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
