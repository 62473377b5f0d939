/**
 * Finds the values in a text that could be recognised somewhere else: e-mail addresses, URLs, paths, numbers of six digits
 * and more, ids, other words of twelve characters and more that are no plain words, and short phrases that stand by
 * themselves (in quotes, on a line, behind a colon).
 *
 * It runs over every output of every tool, so: one pass that only tells words apart, and keyed hashes of those few that are
 * values; no allocation per word. Case does not count (ASCII).
 */

export const VALUE_KINDS = ["value", "e-mail address", "URL", "path", "number", "id", "phrase"] as const;

const VALUE = 0;
const EMAIL = 1;
const URL_KIND = 2;
const PATH = 3;
const NUMBER = 4;
const ID = 5;
const PHRASE = 6;

/** What the hashes are keyed with; the multipliers are odd. */
export interface ScanKey {
  readonly seedOne: number;
  readonly seedTwo: number;
  readonly multiplierOne: number;
  readonly multiplierTwo: number;
}

/** @param secret at least 16 bytes. */
export function createScanKey(secret: Buffer): ScanKey {
  return {
    seedOne: secret.readInt32LE(0),
    seedTwo: secret.readInt32LE(4),
    multiplierOne: secret.readInt32LE(8) | 1,
    multiplierTwo: secret.readInt32LE(12) | 1,
  };
}

/** Is given two 32-bit hashes (never 0), an index into `VALUE_KINDS`, and where the value stands, in bytes of UTF-8. */
export type OnValue = (hashOne: number, hashTwo: number, kind: number, start: number, end: number) => void;

const MIN_VALUE = 12;
/** Plain words can be long; from here on they are taken for a secret. */
const MIN_PLAIN_WORD = 20;
const MIN_ID = 7;
const MIN_DIGITS = 6;
const MIN_PHRASE_WORDS = 2;
const MAX_PHRASE_WORDS = 8;
const MAX_PARTS = 32;

// Bits of what a byte is. A digit is 1 and a capital is 32 because they are used as numbers; what separates words has the
// highest bit, so that one comparison tells it.
const DIGIT = 1;
const SMALL = 2;
/** Inside words, where parts of them meet. */
const JOINT = 4;
const MARK = 8;
/** Set for a word with a capital behind its first character. */
const INNER_CAPITAL = 16;
const CAPITAL = 32;
/** Belongs to the text around a word where it stands behind it; before it. */
const LOOSE_BEHIND = 64;
const LOOSE_BEFORE = 128;
/** Behind a word it ends the phrase as well: the name of a field. */
const LABEL = 256;
/** The first bytes of spaces, quotes and dashes outside ASCII; `wideGap` tells whether they are. */
const WIDE = 512;
const GAP = 1_024;
/** Between words, and a phrase ends. */
const BREAK = 2_048;

/** By byte of UTF-8: what lies outside ASCII counts as small letters. */
const KINDS = createKinds();

function createKinds(): Uint16Array {
  const kinds = new Uint16Array(256).fill(SMALL);
  kinds.fill(MARK, 0, 128);
  kinds.fill(GAP, 0, 33);
  kinds.fill(DIGIT, 48, 58);
  kinds.fill(CAPITAL, 65, 91);
  kinds.fill(SMALL, 97, 123);
  const set = (characters: string, kind: number): void => {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  };
  set('\n\r\t"`,;()[]{}<>|\\', GAP | BREAK);
  set("'*~!\u007F", GAP);
  set("@%", JOINT);
  set("#+", JOINT | LOOSE_BEFORE);
  set("/?", JOINT | LOOSE_BEHIND);
  set("&", JOINT | LOOSE_BEHIND | LOOSE_BEFORE);
  set(":=", JOINT | LOOSE_BEHIND | LOOSE_BEFORE | LABEL);
  set(".", MARK | LOOSE_BEHIND);
  set("-", LOOSE_BEHIND | LOOSE_BEFORE);
  set("\u00C2\u00E2\u00E3\u00EF", SMALL | WIDE);
  return kinds;
}

/** How long the space, quote or dash is that begins at `at`; 0 where a letter does. */
function wideGap(bytes: Buffer, at: number): number {
  const first = bytes[at];
  const second = bytes[at + 1];
  if (first === 0xc2) return second === 0xa0 ? 2 : 0;
  // U+2000 to U+207F, U+3000 to U+303F, U+FEFF
  if (first === 0xe2) return second === 0x80 || second === 0x81 ? 3 : 0;
  if (first === 0xe3) return second === 0x80 ? 3 : 0;
  return first === 0xef && second === 0xbb && bytes[at + 2] === 0xbf ? 3 : 0;
}

// A scan runs to its end without a pause, so one work space is enough for all texts of ordinary size.
const SMALL_TEXT = 64 * 1_024;
const MAX_SHORT = 48;
/** What is looked at beyond the end. */
const MARGIN = 4;
const smallBytes = Buffer.alloc(SMALL_TEXT + MARGIN);

/**
 * Gives every value in `text` to `onValue`, which must not scan in turn.
 *
 * @param isEscaped whether it is JSON text, with escapes in its strings.
 */
export function scanValues(text: string, key: ScanKey, isEscaped: boolean, onValue: OnValue): void {
  // Bytes are read several times faster than the characters of a string.
  const bytes =
    text.length * 3 <= SMALL_TEXT ? smallBytes : Buffer.allocUnsafe(Buffer.byteLength(text) + MARGIN);
  const length = copyShort(text, bytes) ? text.length : bytes.write(text);
  for (let at = length; at < length + MARGIN; at += 1) bytes[at] = 10;
  let phraseWords = 0;
  let phraseStart = 0;
  let phraseEnd = 0;

  let at = 0;
  while (at <= length) {
    let kind = KINDS[bytes[at] as number] as number;
    if (kind >= GAP) {
      if (kind >= BREAK) {
        if (
          phraseWords >= MIN_PHRASE_WORDS &&
          phraseWords <= MAX_PHRASE_WORDS &&
          phraseEnd - phraseStart >= MIN_VALUE
        ) {
          givePhrase(bytes, phraseStart, phraseEnd, key, onValue);
        }
        phraseWords = 0;
        if (isEscaped && bytes[at] === 92) at = escapeEnd(bytes, at) - 1;
      }
      at += 1;
      continue;
    }
    const start = at;
    let kinds = 0;
    let digits = 0;
    let last = kind;
    do {
      kinds |= kind;
      digits += kind & DIGIT;
      last = kind;
      at += 1;
      kind = KINDS[bytes[at] as number] as number;
    } while (kind < GAP);

    const size = at - start;
    if (size >= MIN_DIGITS && (size >= MIN_VALUE || digits > 1 || (kinds & (JOINT | WIDE)) !== 0)) {
      if ((kinds & WIDE) === 0) giveWord(bytes, start, at, key, onValue);
      else giveWide(bytes, start, at, key, onValue);
    }
    if ((last & LABEL) !== 0) {
      phraseWords = 0;
      continue;
    }
    if (phraseWords === 0) phraseStart = start;
    phraseWords += 1;
    phraseEnd = at;
  }
}

/** Copies a short ASCII text by hand, which is quicker than to call for it. @returns false where it was not one. */
function copyShort(text: string, bytes: Buffer): boolean {
  if (text.length > MAX_SHORT) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) return false;
    bytes[at] = code;
  }
  return true;
}

/** Where an escape in JSON text ends that begins with the back slash at `at`. */
function escapeEnd(bytes: Buffer, at: number): number {
  const next = bytes[at + 1];
  if (next === 117) return at + 6;
  // b f n r t, a quote, a slash or another back slash
  return next === 98 ||
    next === 102 ||
    next === 110 ||
    next === 114 ||
    next === 116 ||
    next === 34 ||
    next === 92 ||
    next === 47
    ? at + 2
    : at + 1;
}

/** A word with bytes in it that may be a space, a quote or a dash outside ASCII: taken apart there. */
function giveWide(bytes: Buffer, start: number, end: number, key: ScanKey, onValue: OnValue): void {
  let from = start;
  for (let at = start; at < end; at += 1) {
    const gap = ((KINDS[bytes[at] as number] as number) & WIDE) === 0 ? 0 : wideGap(bytes, at);
    if (gap === 0) continue;
    giveWord(bytes, from, at, key, onValue);
    from = at + gap;
    at = from - 1;
  }
  giveWord(bytes, from, end, key, onValue);
}

/** Looks closer at a word, and gives it, and parts of it, where they are values. */
function giveWord(bytes: Buffer, from: number, to: number, key: ScanKey, onValue: OnValue): void {
  let start = from;
  let end = to;
  while (start < end && ((KINDS[bytes[start] as number] as number) & LOOSE_BEFORE) !== 0) start += 1;
  while (end > start && ((KINDS[bytes[end - 1] as number] as number) & LOOSE_BEHIND) !== 0) end -= 1;
  if (end - start < MIN_DIGITS) return;
  let one = key.seedOne;
  let two = key.seedTwo;
  let kinds = 0;
  let digits = 0;
  let sign = -1;
  let hasScheme = false;
  for (let at = start; at < end; at += 1) {
    const code = bytes[at] as number;
    const kind = KINDS[code] as number;
    one = Math.imul(one ^ (code | (kind & CAPITAL)), key.multiplierOne);
    two = Math.imul(two ^ (code | (kind & CAPITAL)), key.multiplierTwo);
    kinds |= kind;
    digits += kind & DIGIT;
    if (kind === CAPITAL && at > start) kinds |= INNER_CAPITAL;
    else if (code === 64) sign = at;
    else if (code === 47 && at > start + 1 && bytes[at - 1] === 47 && bytes[at - 2] === 58) hasScheme = true;
  }
  const isJoined = (kinds & JOINT) !== 0;
  const kind = isJoined
    ? classifyJoined(bytes, start, end, digits, kinds, sign, hasScheme)
    : classify(end - start, digits, kinds);
  if (kind >= 0) onValue(finish(one, VALUE), finish(two, VALUE), kind, start, end);
  if (isJoined) giveParts(bytes, start, end, key, onValue);
}

/** The parts of a word that are values by themselves: the host and the parameters of a URL, the names in a path. */
function giveParts(bytes: Buffer, start: number, end: number, key: ScanKey, onValue: OnValue): void {
  let from = start;
  for (let parts = 0; from < end && parts < MAX_PARTS; parts += 1) {
    let one = key.seedOne;
    let two = key.seedTwo;
    let kinds = 0;
    let digits = 0;
    let to = from;
    for (; to < end; to += 1) {
      const code = bytes[to] as number;
      const kind = KINDS[code] as number;
      if ((kind & JOINT) !== 0) break;
      one = Math.imul(one ^ (code | (kind & CAPITAL)), key.multiplierOne);
      two = Math.imul(two ^ (code | (kind & CAPITAL)), key.multiplierTwo);
      kinds |= kind;
      digits += kind & DIGIT;
      if (kind === CAPITAL && to > from) kinds |= INNER_CAPITAL;
    }
    if (to - from >= MIN_DIGITS && to - from < end - start) {
      const kind = classify(to - from, digits, kinds);
      if (kind >= 0) onValue(finish(one, VALUE), finish(two, VALUE), kind, from, to);
    }
    from = to + 1;
  }
}

/** Some words together: white space counts as one space, and what is loose at the end not at all. */
function givePhrase(bytes: Buffer, start: number, to: number, key: ScanKey, onValue: OnValue): void {
  let end = to;
  while (end > start && ((KINDS[bytes[end - 1] as number] as number) & LOOSE_BEHIND) !== 0) end -= 1;
  let one = key.seedOne;
  let two = key.seedTwo;
  let isGap = false;
  for (let at = start; at < end; at += 1) {
    let code = bytes[at] as number;
    const kind = KINDS[code] as number;
    if (kind >= GAP) {
      if (isGap) continue;
      code = 32;
    }
    isGap = kind >= GAP;
    one = Math.imul(one ^ (code | (kind & CAPITAL)), key.multiplierOne);
    two = Math.imul(two ^ (code | (kind & CAPITAL)), key.multiplierTwo);
  }
  onValue(finish(one, PHRASE), finish(two, PHRASE), PHRASE, start, end);
}

/** Spreads the bits; 0 is left free as the mark of an empty place. */
function finish(hash: number, salt: number): number {
  let mixed = hash ^ Math.imul(salt + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed ^= mixed >>> 16;
  return mixed === 0 ? 1 : mixed;
}

/** The kind of a word, or -1 where it could stand in any text. */
function classify(size: number, digits: number, kinds: number): number {
  const hasLetters = (kinds & (SMALL | CAPITAL)) !== 0;
  if (!hasLetters) return digits >= MIN_DIGITS ? NUMBER : size >= MIN_VALUE && digits > 0 ? VALUE : -1;
  if (digits > 1 && size >= MIN_ID) return ID;
  if (size < MIN_VALUE) return -1;
  // Written as words are: all small, all capital, or a capital first.
  const isPlain =
    digits === 0 && (kinds & MARK) === 0 && ((kinds & INNER_CAPITAL) === 0 || (kinds & SMALL) === 0);
  return isPlain && size < MIN_PLAIN_WORD ? -1 : VALUE;
}

/** The same for a word with `/`, `@`, `:`, `=` or the like in it. */
function classifyJoined(
  bytes: Buffer,
  start: number,
  end: number,
  digits: number,
  kinds: number,
  sign: number,
  hasScheme: boolean,
): number {
  if (hasScheme) return URL_KIND;
  if (sign > start && sign < end - 3 && (kinds & MARK) !== 0) return EMAIL;
  const first = bytes[start];
  if (first === 47 || (first === 46 && (bytes[start + 1] === 47 || bytes[start + 2] === 47))) return PATH;
  if ((kinds & (SMALL | CAPITAL)) === 0) return digits >= MIN_DIGITS ? NUMBER : -1;
  if (digits > 1 && end - start >= MIN_ID) return ID;
  return end - start >= MIN_VALUE ? VALUE : -1;
}
