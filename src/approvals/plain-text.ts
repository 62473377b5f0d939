/**
 * How values of arguments are written for people: one line, clipped, quoted as soon as they could be mistaken for part of the
 * sentence around them. Control and hidden characters are made visible by the function that is handed in.
 */
import type { JsonValue } from "../base/json.ts";

/** Makes control characters, hidden Unicode and bidi tricks visible. */
export type MakeVisible = (text: string) => string;

/** Values that need no quotes: nothing in them can end a clause or start another. */
const PLAIN = /^[\p{L}\p{N}_@#+~./-][\p{L}\p{N}_@#+~./:%-]*$/u;

/** How much of a text is looked at beyond what is shown: enough for what becomes longer or shorter on the way. */
const LOOK_AHEAD = 4;

/** One value on one line, at most about `maxCharacters` of it, with what was left out counted. */
export function inline(
  value: JsonValue | undefined,
  maxCharacters: number,
  makeVisible: MakeVisible,
): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return quoteWhereNeeded(value, maxCharacters, makeVisible);
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return inlineList(value, maxCharacters, makeVisible);
  const count = Object.keys(value).length;
  return count === 1 ? "1 field" : `${count} fields`;
}

function inlineList(list: readonly JsonValue[], maxCharacters: number, makeVisible: MakeVisible): string {
  if (list.length === 0) return "an empty list";
  const shown = list
    .slice(0, 3)
    .map((item) => inline(item, Math.max(12, Math.floor(maxCharacters / 3)), makeVisible));
  const rest = list.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}

function quoteWhereNeeded(text: string, maxCharacters: number, makeVisible: MakeVisible): string {
  const line = oneLine(text.slice(0, maxCharacters * LOOK_AHEAD), makeVisible);
  const { shown, isCut } = clip(line, maxCharacters);
  if (PLAIN.test(shown) && !isCut && text.length <= maxCharacters) return shown;
  const left = text.length > shown.length ? ` (${text.length} characters)` : "";
  return isCut || text.length > maxCharacters * LOOK_AHEAD ? `“${shown}…”${left}` : `“${shown}”`;
}

/** The text on one line: visible, white space folded, its own typographic quotes turned so that they cannot close ours. */
export function oneLine(text: string, makeVisible: MakeVisible): string {
  const flat = text.replaceAll(/\r\n|[\n\r\u2028\u2029]/g, " ⏎ ").replaceAll(/[\t ]+/g, " ");
  return makeVisible(flat)
    .replaceAll(/[“”„‟]/g, '"')
    .trim();
}

/** Cuts at a whole character. */
export function clip(
  text: string,
  maxCharacters: number,
): { readonly shown: string; readonly isCut: boolean } {
  if (text.length <= maxCharacters) return { shown: text, isCut: false };
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxCharacters - 1)) ? maxCharacters - 1 : maxCharacters;
  return { shown: text.slice(0, end), isCut: true };
}
