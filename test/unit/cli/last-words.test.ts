import { describe, expect, it } from "vitest";
import { renderLastWords } from "../../../src/cli/render/last-words.ts";

describe("last words", () => {
  it("are marked as the server's own", () => {
    expect(renderLastWords("fatal: no database\n\ngoodbye")).toEqual([
      "  the server's own last words, on stderr:",
      "  | fatal: no database",
      "  | goodbye",
    ]);
  });

  it.each([null, undefined, "", " \n"])("of nothing (%o) are nothing", (words) => {
    expect(renderLastWords(words)).toEqual([]);
  });
});
