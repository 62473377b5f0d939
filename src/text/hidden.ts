/**
 * Which code points are hidden, and which look hidden but belong to valid writing. One source for `clean` (which shows or
 * drops hidden ones) and `scan` (which reports them).
 *
 * Hidden: control characters but `\n`, `\t` and the pair `\r\n`; bidi controls; every Default_Ignorable_Code_Point; line and
 * paragraph separators; interlinear annotation; lone surrogates.
 * Valid all the same (Unicode 17, UTS #51, UAX #31 "joining controls"): emoji ZWJ sequences, the three subdivision flags,
 * variation selectors on a base that has variants, joiners between letters of scripts that need them.
 */

/** Members of a character class (flag `u`); ASCII-only texts never reach the astral part. */
const HIDDEN_CLASS =
  "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f" + // C0 without \t \n, DEL, C1
  "\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb" +
  "\\p{Cs}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";

/** Letters of scripts where U+200C and U+200D change how a word is written. */
const JOINING =
  "\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}" +
  "\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}" +
  "\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}\\p{Script=Mongolian}";

/** Hidden characters that are part of valid writing, each tied to its neighbours by look-around of fixed length. */
const VALID = [
  // Black flag with the tags of England, Scotland or Wales.
  "(?<=\\u{1f3f4})\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}",
  "(?<=[\\p{Emoji}\\p{Extended_Pictographic}])[\\ufe0e\\ufe0f]",
  "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})",
  "(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]",
  "(?<=[\\p{Sm}\\p{Script=Myanmar}\\p{Script=Phags_Pa}])\\ufe00",
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
  "(?<=\\p{Script=Mongolian})[\\u180b-\\u180d\\u180f]",
].join("|");

const BEYOND_PLAIN = /[^\t\n\x20-\x7e]/;
const HIDDEN_TEST = new RegExp(`[${HIDDEN_CLASS}]`, "u");

/** True for text that holds a hidden character; `\r\n` and valid emoji count too, so it only says that a closer look is due. */
export function mayHoldHidden(text: string): boolean {
  // Most text is plain ASCII, and the first test is several times as fast.
  return BEYOND_PLAIN.test(text) && HIDDEN_TEST.test(text);
}

/**
 * A run of hidden characters as group 1; a match without group 1 is valid writing. Inside a run nothing valid can hide: what
 * is valid directly follows a visible character or a valid U+FE0F.
 */
export const HIDDEN_RUN = new RegExp(`${VALID}|([${HIDDEN_CLASS}]+)`, "gu");

/**
 * A terminal control sequence: CSI, string sequences (OSC, DCS, APC, PM, SOS; at most 2,048 characters long, so that an open
 * one does not swallow what follows), or a two-character escape; 7-bit and 8-bit forms (ECMA-48).
 */
export const ANSI_SEQUENCE =
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,2048}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{0,4}[0-~]/g;

/** The text that tag characters (U+E0020 to U+E007E) spell; everything else is left out. */
export function decodeTagCharacters(text: string): string {
  let decoded = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xe0020 && code <= 0xe007e) decoded += String.fromCharCode(code - 0xe0000);
  }
  return decoded;
}

/** The bytes that a run of variation selectors spells (U+FE00 = 0 … U+FE0F = 15, U+E0100 = 16 …), read as UTF-8. */
export function decodeVariationSelectors(text: string): string {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xfe00 && code <= 0xfe0f) bytes.push(code - 0xfe00);
    else if (code >= 0xe0100 && code <= 0xe01ef) bytes.push(code - 0xe0100 + 16);
  }
  return Buffer.from(bytes).toString("utf8");
}
