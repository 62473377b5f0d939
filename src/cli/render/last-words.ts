/** What a server that was lost said last on stderr, marked as its own words. */

/** @param words cleaned; `null` or `undefined` where it said nothing. @returns lines, indented. */
export function renderLastWords(words: string | null | undefined): string[] {
  const lines = (words ?? "").split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return [];
  return ["  the server's own last words, on stderr:", ...lines.map((line) => `  | ${line}`)];
}
