/** Replacing in a long text without holding the event loop. */
import type { Sliced } from "../base/slices.ts";

/** Matches that are worked on without a pause: a millisecond or two of them. */
export const SLICE_MATCHES = 2_000;

/** Characters of one match that are worked on without a pause. */
export const SLICE_CHARACTERS = 32_768;

/**
 * `text.replace(pattern, …)` in slices, for a text of any length. A stretch without a match is one slice, whatever its length.
 *
 * @param pattern with the flag `g`.
 */
export function* replaceInSlices(
  text: string,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => string | Sliced<string>,
): Sliced<string> {
  /** Those of past slices, joined: millions of small parts take long to join at the end. */
  const done: string[] = [];
  let parts: string[] = [];
  let from = 0;
  let matches = 0;
  for (const match of text.matchAll(pattern)) {
    matches += 1;
    if (matches % SLICE_MATCHES === 0) {
      done.push(parts.join(""));
      parts = [];
      yield;
    }
    const replaced = replace(match);
    parts.push(text.slice(from, match.index), typeof replaced === "string" ? replaced : yield* replaced);
    from = match.index + match[0].length;
  }
  if (from === 0) return text;
  parts.push(text.slice(from));
  done.push(parts.join(""));
  return done.join("");
}
