import { describe, expect, it } from "vitest";
import { createMultiSearch } from "../../../src/text/multi-search.ts";

const find = (literals: readonly string[], text: string, wholeWord = false): string[] =>
  createMultiSearch(literals.map((literal) => ({ text: literal, wholeWord })))
    .find(text)
    .map(({ start, end }) => text.slice(start, end));

describe("createMultiSearch", () => {
  it.each([
    ["nothing to look for", [], "abc", []],
    ["an empty literal", [""], "abc", []],
    ["one", ["bc"], "abcbc", ["bcbc"]],
    ["literals inside each other", ["he", "she", "hers"], "ushers", ["shers"]],
    ["a suffix found through a failure link", ["abcd", "bc"], "abcx", ["bc"]],
    ["overlapping ones as one span", ["abc", "cde"], "xabcdex", ["abcde"]],
    ["repetitions", ["aa"], "aaaa", ["aaaa"]],
    ["beyond ASCII", ["密钥", "😀"], "x密钥y😀z", ["密钥", "😀"]],
  ])("%s", (_name, literals, text, expected) => expect(find(literals, text)).toEqual(expected));

  it("takes whole words only where asked", () => {
    expect(find(["abcd"], "abcd xabcd abcdx (abcd) abcd_", true)).toEqual(["abcd", "abcd", "abcd"]);
    // The longer one does not stand alone, the shorter one in it does.
    expect(find(["a-bcd", "bcd"], "9a-bcd!", true)).toEqual(["bcd"]);
  });

  it("agrees with a naive search", () => {
    const literals = ["ab", "ba", "aab", "abba", "b"];
    for (let code = 0; code < 729; code += 1) {
      const text = code
        .toString(3)
        .padStart(6, "0")
        .replaceAll("0", "a")
        .replaceAll("1", "b")
        .replaceAll("2", "c");
      const covered = Array.from({ length: text.length }, () => false);
      for (const literal of literals) {
        for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1))
          covered.fill(true, at, at + literal.length);
      }
      const found = Array.from({ length: text.length }, () => false);
      for (const { start, end } of createMultiSearch(
        literals.map((literal) => ({ text: literal, wholeWord: false })),
      ).find(text)) {
        found.fill(true, start, end);
      }
      expect(found).toEqual(covered);
    }
  });
});
