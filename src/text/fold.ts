/**
 * One code unit of text → the code unit it is compared as: lower case, without diacritics, look-alikes of Latin letters
 * (Greek, Cyrillic, small capitals) as the Latin letter, hidden characters gone, everything that is no letter or digit a
 * separator. Memoised in a table, so that reading a text costs one look-up per code unit.
 * Compatibility forms (NFKC) of one code unit are in the table; the others are replaced first (`normalizeForScan`).
 */
import { atOnce, type Sliced } from "../base/slices.ts";
import { replaceInSlices } from "./replace.ts";

/** No part of a word. */
export const SEPARATOR = 0;
/** As good as not there. */
export const SKIP = 1;
const UNKNOWN = 0xffff;

const table = new Uint16Array(0x10000).fill(UNKNOWN);

/** Pairs: a letter, and the Latin letter that it looks like. Lower case is enough, because case is folded first. */
const LOOK_ALIKES =
  "аa ԁd еe ѕs һh іi јj ӏl кk мm нh оo рp сc ԛq тt уy хx ѵv ѡw ԝw αa βb γy εe ηn ιi κk νv οo ρp σo τt υu χx ωw ϲc ϳj " +
  "ɑa ɡg ɢg ꜰf ǫq ɩi ʟl ɪi ɴn ʀr ʏy ʙb ʜh ꜱs ᴀa ᴄc ᴅd ᴇe ᴊj ᴋk ᴍm ᴏo ᴘp ᴛt ᴜu ᴠv ᴡw ᴢz ƅb ıi łl øo đd օo ոn սu ցg հh եe զq";

const skeleton = new Map<number, number>(
  LOOK_ALIKES.split(" ").map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
);

const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}]/u;
const MARK = /[\u0300-\u036f\u20d0-\u20f0\ufe20-\ufe2f]/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

function computeFold(code: number): number {
  if (code === 0x09 || code === 0x0a || code === 0x0d) return SEPARATOR;
  if (code >= 0xd800 && code <= 0xdfff) return SEPARATOR;
  const character = String.fromCharCode(code);
  if (HIDDEN.test(character) || MARK.test(character)) return SKIP;
  if (!WORD.test(character) && !/[\u2460-\u24ff\u3200-\u33ff]/.test(character)) return SEPARATOR;
  const compatible = character.normalize("NFKC").toLowerCase();
  // "⒤" is "(i)": its letter counts.
  const letter = Array.from(compatible).find((unit) => WORD.test(unit)) ?? compatible;
  const first = letter.charCodeAt(0);
  // Hangul and kana stay composed; only letters with Latin, Greek or Cyrillic bases lose their marks.
  const base =
    first < 0x530 || (first >= 0x1e00 && first <= 0x1fff) ? letter.normalize("NFD").charCodeAt(0) : first;
  return skeleton.get(base) ?? base;
}

/** The folded code unit, `SEPARATOR` or `SKIP`. */
export function foldCode(code: number): number {
  const known = table[code] ?? UNKNOWN;
  if (known !== UNKNOWN) return known;
  const folded = computeFold(code);
  table[code] = folded;
  return folded;
}

/** A literal as the scanner sees it: every code unit folded, separators as a space. */
export function foldLiteral(text: string): string {
  let folded = "";
  for (let at = 0; at < text.length; at += 1) {
    const code = foldCode(text.charCodeAt(at));
    if (code !== SKIP) folded += code === SEPARATOR ? " " : String.fromCharCode(code);
  }
  return folded;
}

/** Letters that fold to more than one code unit, or that are written as two: ligatures, and the mathematical and enclosed ones. */
const WIDE = /[\ufb00-\ufb06\u{1d400}-\u{1d7ff}\u{1f110}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu;
const MAY_BE_WIDE = /[\ufb00-\ufb06\ud835\ud83c]/;

/** The form in which text is read by the scanner; the same text where there is nothing to change. */
export function normalizeForScan(text: string): string {
  return atOnce(normalized(text));
}

/** `normalizeForScan` in slices, where there is much to change. */
export function* normalized(text: string): Sliced<string> {
  return MAY_BE_WIDE.test(text) ? yield* replaceInSlices(text, WIDE, widen) : text;
}

function widen([character]: RegExpExecArray): string {
  const code = character.codePointAt(0) ?? 0;
  // Regional indicators, and enclosed letters without a decomposition, stand in alphabetical order.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return String.fromCharCode(0x61 + code - 0x1f1e6);
  if (code >= 0x1f150 && code <= 0x1f169) return String.fromCharCode(0x61 + code - 0x1f150);
  if (code >= 0x1f170 && code <= 0x1f189) return String.fromCharCode(0x61 + code - 0x1f170);
  return character.normalize("NFKC").replace(/[()]/g, "");
}
