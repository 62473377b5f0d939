/**
 * Reads a text as the injection scan sees it: word classes with positions, in one pass, without building a folded copy.
 * Escapes of JSON (`\n`, `\u0069`), URLs (`%20`) and HTML (`&#105;`) are read through, because tool output is full of them.
 */
import { foldCode, foldLiteral, SEPARATOR, SKIP } from "./fold.ts";
import { LEXICON, type LexiconClass } from "./lexicon.ts";
import { forgetText, SHAPE_STARTS, shapeAt } from "./markup.ts";
import { classId, UNITS_PER_WORD } from "./phrases.ts";

export interface Reading {
  /** A word, or a run without blanks, long enough to be a token or base64 of a sentence. */
  readonly hasLongWord: boolean;
  /** Offset of text that stands behind a screenful of blanks; -1: none. */
  readonly farAway: number;
}

export type OnWord = (id: number, position: number, start: number, end: number) => void;

const LONG_WORD = 20;
const FAR_AWAY = 600;
/** Words of distance that the end of a sentence adds. */
const SENTENCE_UNITS = 2 * UNITS_PER_WORD;
const RING = 8;

const ROLE = classId("roleName");
const ROLE_HEAD = classId("roleHead");
const ADDRESS = classId("address");
const SNAKE = classId("snake");
const SENTENCE_END = classId("sentenceEnd");

interface Lexicon {
  /** FNV-1a of the folded word → its classes. A collision could only make a harmless word count. */
  readonly words: ReadonlyMap<number, readonly number[]>;
  readonly maybe: Uint8Array;
  /** Texts of languages without spaces, by their last code unit. */
  readonly endings: ReadonlyMap<number, readonly { readonly text: string; readonly ids: readonly number[] }[]>;
}

let lexicon: Lexicon | undefined;

const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

function hashWord(word: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), FNV_PRIME);
  return hash;
}

function loadLexicon(): Lexicon {
  const words = new Map<number, number[]>();
  const texts = new Map<string, number[]>();
  const maybe = new Uint8Array(0x2000);
  for (const name of Object.keys(LEXICON) as LexiconClass[]) {
    const list: { readonly words?: string; readonly cjk?: string } = LEXICON[name];
    const id = classId(name);
    for (const word of (list.words ?? "").split(" ")) {
      const folded = foldLiteral(word);
      if (folded === "" || folded.includes(" ")) continue;
      const hash = hashWord(folded);
      const ids = words.get(hash) ?? [];
      if (!ids.includes(id)) ids.push(id);
      words.set(hash, ids);
      maybe[hash & 0x1fff] = 1;
    }
    for (const text of (list.cjk ?? "").split(" ")) {
      const folded = foldLiteral(text).replaceAll(" ", "").slice(-RING);
      if (folded === "") continue;
      const ids = texts.get(folded) ?? [];
      if (!ids.includes(id)) ids.push(id);
      texts.set(folded, ids);
    }
  }
  const endings = new Map<number, { text: string; ids: number[] }[]>();
  for (const [text, ids] of texts) {
    const last = text.charCodeAt(text.length - 1);
    const list = endings.get(last) ?? [];
    list.push({ text, ids });
    endings.set(last, list);
  }
  return { words, maybe, endings };
}

/** Digits and signs that stand for letters in disguised words. */
const LEET: Readonly<Record<string, string>> = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b" };

/** For ASCII: the folded code unit, `SEPARATOR` or `SKIP`. */
const ASCII = new Uint8Array(0x80);
for (let code = 0; code < 0x80; code += 1) ASCII[code] = foldCode(code);

/** What the reader remembers between words. */
interface State {
  readonly text: string;
  readonly onWord: OnWord;
  readonly lexicon: Lexicon;
  position: number;
  wordsOnLine: number;
  /** The last word can name a role. */
  isRole: boolean;
  /** The last word was followed by `_`. */
  isJoined: boolean;
  wordStart: number;
  wordEnd: number;
  /** Beginning of a run of base64 characters. */
  runStart: number;
  hasLongWord: boolean;
  farAway: number;
  /** Letters that stand alone, as in "i g n o r e". */
  letters: string;
  lettersStart: number;
  lettersEnd: number;
  lettersPosition: number;
  readonly ring: Uint16Array;
  ringCount: number;
}

/** Reads `text` (in the form of `normalizeForScan`) and calls `onWord` for every class of every known word, in order. */
export function readWords(text: string, onWord: OnWord): Reading {
  lexicon ??= loadLexicon();
  const state: State = {
    text,
    onWord,
    lexicon,
    position: 0,
    wordsOnLine: 0,
    isRole: false,
    isJoined: false,
    wordStart: 0,
    wordEnd: 0,
    runStart: 0,
    hasLongWord: false,
    farAway: -1,
    letters: "",
    lettersStart: 0,
    lettersEnd: 0,
    lettersPosition: 0,
    ring: ring.fill(0),
    ringCount: 0,
  };
  const { maybe } = lexicon;
  const length = text.length;
  let at = 0;
  while (at < length) {
    const start = at;
    let hash = FNV_OFFSET;
    let letters = 0;
    let hasDigit = false;
    let code = 0;
    let folded = 0;
    // The word that begins here, if one does.
    while (at < length) {
      code = text.charCodeAt(at);
      folded = code < 0x80 ? (ASCII[code] ?? SEPARATOR) : foldCode(code);
      let next = at + 1;
      if (folded === SEPARATOR && (code === 0x5c || code === 0x26 || code === 0x25)) {
        const escape = readEscape(text, at);
        if (escape !== 0) {
          code = escape & 0x1fffff;
          folded = foldCode(code);
          next += escape >>> 21;
        }
      }
      if (folded <= SKIP) {
        if (folded === SEPARATOR && !(code === 0x27 || code === 0x2019) || folded === SEPARATOR && !isContraction(text, at)) break;
      } else {
        if (isIdeographic(folded)) break;
        if (code >= 0x30 && code <= 0x39) hasDigit = true;
        letters += 1;
        hash = Math.imul(hash ^ folded, FNV_PRIME);
      }
      at = next;
    }
    if (letters > 0) {
      if (start !== state.wordEnd) {
        state.runStart = start;
        if (start - state.wordEnd > FAR_AWAY) noteFarAway(state, start);
      }
      const isKnown = maybe[hash & 0x1fff] === 1;
      if (isKnown || hasDigit || letters === 1 || code === 0x5f || state.isJoined || state.letters !== "") {
        endWord(state, start, at, letters, hash, hasDigit, at < length ? code : 0);
      } else {
        state.position += UNITS_PER_WORD;
        state.wordsOnLine += 1;
        state.isRole = false;
        state.wordStart = start;
        state.wordEnd = at;
      }
      if (at >= length) break;
    }
    if (at >= length) break;
    if (folded > SKIP) {
      readIdeograph(state, folded, at);
      at += 1;
    } else if (text.charCodeAt(at) === 0x20) at += 1;
    else at = readSeparator(state, code, at);
  }
  flushLetters(state);
  onWord(SENTENCE_END, state.position + 1, length, length);
  if (state.wordEnd === length && length - state.runStart >= LONG_WORD) state.hasLongWord = true;
  forgetText();
  return { hasLongWord: state.hasLongWord, farAway: state.farAway };
}

const ring = new Uint16Array(RING);

/** Kana, Han and Hangul: read letter by letter. */
function isIdeographic(folded: number): boolean {
  return folded >= 0x2e80 && (folded <= 0xa4cf || (folded >= 0xac00 && folded <= 0xd7af));
}

function emit(state: State, found: readonly number[], start: number, end: number): void {
  for (const id of found) state.onWord(id, state.position, start, end);
}

function endWord(
  state: State,
  start: number,
  end: number,
  letters: number,
  hash: number,
  hasDigit: boolean,
  separator: number,
): void {
  const { words } = state.lexicon;
  if (letters === 1) {
    if (state.letters !== "" && start - state.lettersEnd > 1) flushLetters(state);
    if (state.letters === "") {
      state.lettersStart = start;
      state.lettersPosition = state.position;
    }
    if (state.letters.length < 24) state.letters += String.fromCharCode(foldCode(state.text.charCodeAt(end - 1)));
    state.lettersEnd = end;
  } else flushLetters(state);
  state.position += UNITS_PER_WORD;
  state.wordsOnLine += 1;
  state.isRole = false;
  let found = words.get(hash);
  if (found === undefined && hasDigit && letters < 20) found = lookUpLeet(state.text, start, end, words);
  if (found !== undefined) {
    emit(state, found, start, end);
    state.isRole = state.wordsOnLine <= 3 && found.includes(ROLE);
  }
  if (separator === 0x5f) state.isJoined = true;
  else if (state.isJoined) {
    state.isJoined = false;
    state.onWord(SNAKE, state.position, start, end);
  }
  state.wordStart = start;
  state.wordEnd = end;
}

function flushLetters(state: State): void {
  if (state.letters === "") return;
  const { letters } = state;
  state.letters = "";
  if (letters.length < 3) return;
  // The letters were one word all along.
  state.position = state.lettersPosition + UNITS_PER_WORD;
  const found = state.lexicon.words.get(hashWord(letters));
  if (found !== undefined) emit(state, found, state.lettersStart, state.lettersEnd);
}

function noteFarAway(state: State, start: number): void {
  if (state.farAway < 0 && state.text.slice(state.wordEnd, start).trim() === "") state.farAway = start;
}

function readIdeograph(state: State, folded: number, at: number): void {
  if (state.letters !== "") flushLetters(state);
  if (at - state.wordEnd > FAR_AWAY) noteFarAway(state, at);
  state.position += 1;
  state.ring[state.ringCount % RING] = folded;
  state.ringCount += 1;
  state.wordEnd = at + 1;
  const candidates = state.lexicon.endings.get(folded);
  if (candidates === undefined) return;
  for (const { text: known, ids } of candidates) {
    if (!endsWith(state.ring, state.ringCount, known)) continue;
    emit(state, ids, Math.max(0, at + 1 - known.length), at + 1);
    if (state.wordsOnLine <= 3 && ids.includes(ROLE)) state.isRole = true;
  }
}

/** @returns the offset of what follows. */
function readSeparator(state: State, read: number, at: number): number {
  const { text, onWord } = state;
  let code = read;
  let next = at + 1;
  const sign = text.charCodeAt(at);
  if (sign !== code || sign === 0x5c || sign === 0x26 || sign === 0x25) {
    const escape = readEscape(text, at);
    if (escape !== 0) {
      code = escape & 0x1fffff;
      next += escape >>> 21;
    }
  }
  if (code === 0x5f || code === 0x2f || code === 0x2d || code === 0x2b) {
    // What base64 is made of goes on with the run.
    if (at === state.wordEnd) {
      state.wordEnd = next;
      if (at - state.runStart >= LONG_WORD) state.hasLongWord = true;
    }
    if (code !== 0x5f) state.isJoined = false;
    return next;
  }
  state.isJoined = false;
  if (at === state.wordEnd && at - state.runStart >= LONG_WORD) state.hasLongWord = true;
  const { position } = state;
  if (code === 0x0a) {
    state.wordsOnLine = 0;
    state.position += 1;
  } else if (code === 0x2e || code === 0x21 || code === 0x3f || code === 0x3002 || code === 0xff01 || code === 0xff1f) {
    if (code >= 0x80 || endsSentence(text.charCodeAt(next))) {
      onWord(SENTENCE_END, position + 1, at, next);
      state.position += SENTENCE_UNITS;
      state.wordsOnLine = 0;
      state.ringCount = 0;
      state.ring.fill(0);
    }
  } else if (code === 0x3a || code === 0xff1a) {
    const isAddress = text.charCodeAt(next) === 0x2f && text.charCodeAt(next + 1) === 0x2f;
    if (isAddress) onWord(ADDRESS, position + 1, at, next + 2);
    else if (state.isRole && at === state.wordEnd) onWord(ROLE_HEAD, position + 1, state.wordStart, next);
    onWord(SENTENCE_END, position + 1, at, next);
  } else if (code === 0x40) {
    if (at === state.wordEnd && isAddressPart(text.charCodeAt(next))) onWord(ADDRESS, position + 1, state.wordStart, next);
  }
  if (sign < 0x80 && SHAPE_STARTS[sign] === 1) {
    const shape = shapeAt(text, at);
    if (shape !== undefined) {
      state.position += 1;
      onWord(classId(shape.name), state.position, at, shape.end);
    }
    if (sign !== 0x21) state.wordsOnLine = 0;
  }
  return next;
}

/** What may follow a full stop at the end of a sentence; `NaN` is the end of the text. */
function endsSentence(next: number): boolean {
  return !(next > 0x20) || next === 0x22 || next === 0x27 || next === 0x5c || next === 0x3c || next === 0x29;
}

function isAddressPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
}

/** "don't", "won’t": the sign belongs to the word. */
function isContraction(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1) | 32;
  const after = text.charCodeAt(at + 1) | 32;
  return before === 0x6e && after === 0x74;
}

function endsWith(ring: Uint16Array, count: number, known: string): boolean {
  if (known.length > count) return false;
  for (let back = 1; back <= known.length; back += 1) {
    if (ring[(count - back) % RING] !== known.charCodeAt(known.length - back)) return false;
  }
  return true;
}

function lookUpLeet(
  text: string,
  start: number,
  end: number,
  words: ReadonlyMap<number, readonly number[]>,
): readonly number[] | undefined {
  const word = text.slice(start, end).toLowerCase();
  if (!/[a-z]/.test(word)) return undefined;
  return words.get(hashWord(word.replace(/[0134578]/g, (digit) => LEET[digit] ?? digit)));
}

/** The code unit that an escape at `at` stands for, and how many more code units it is long in the bits from 21; 0: no escape. */
function readEscape(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (sign === 0x5c) {
    // \n \r \t are blanks; \uXXXX is a letter.
    if (next === 0x6e || next === 0x72) return (1 << 21) | 0x0a;
    if (next === 0x74) return (1 << 21) | 0x20;
    if (next === 0x75) return hexAt(text, at + 2, 4, 5);
    return 0;
  }
  if (sign === 0x25) return hexAt(text, at + 1, 2, 2);
  if (next !== 0x23) return 0;
  const match = /^&#(?:x([0-9a-f]{1,5})|(\d{1,6}));/i.exec(text.slice(at, at + 12));
  if (match === null) return 0;
  const value = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  return value > 0xffff ? ((match[0].length - 1) << 21) | 0x20 : ((match[0].length - 1) << 21) | value;
}

function hexAt(text: string, from: number, digits: number, extra: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at += 1) {
    const code = text.charCodeAt(at);
    const digit = code >= 0x30 && code <= 0x39 ? code - 0x30 : (code | 32) >= 0x61 && (code | 32) <= 0x66 ? (code | 32) - 0x57 : -1;
    if (digit < 0) return 0;
    value = value * 16 + digit;
  }
  return (extra << 21) | value;
}
