/**
 * Reads a text as the injection scan sees it: word classes with positions, in one pass, without building a folded copy.
 * Escapes of JSON (`\n`, `\u0069`), URLs (`%20`) and HTML (`&#105;`) are read through, because tool output is full of them.
 */
import type { Sliced } from "../base/slices.ts";
import { readEscape } from "./escapes.ts";
import { foldCode, SEPARATOR, SKIP } from "./fold.ts";
import { forgetText, SHAPE_STARTS, shapeAt } from "./markup.ts";
import { classId, UNITS_PER_WORD } from "./phrases.ts";
import {
  FNV_OFFSET,
  FNV_PRIME,
  hashWord,
  lookUpLeet,
  MAX_ENDING,
  wordTable,
  type WordTable,
} from "./word-table.ts";

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
const SENTENCE_UNITS = 4 * UNITS_PER_WORD;

const ROLE = classId("roleName");
const ROLE_HEAD = classId("roleHead");
const ADDRESS = classId("address");
const SNAKE = classId("snake");
const SENTENCE_END = classId("sentenceEnd");

/** For ASCII: the folded code unit, `SEPARATOR` or `SKIP`. */
const ASCII = new Uint8Array(0x80);
for (let code = 0; code < 0x80; code += 1) ASCII[code] = foldCode(code);

/** What the reader remembers between words. */
interface State {
  readonly text: string;
  /** Where reading goes on, and the word that it goes on with. */
  at: number;
  open: OpenWord | null;
  readonly onWord: OnWord;
  readonly table: WordTable;
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

/** Characters that are read without a pause: a few milliseconds of the dearest text. */
const SLICE = 16_384;

/**
 * Reads `text` (in the form of `normalizeForScan`) and calls `onWord` for every class of every known word, in order. Long texts
 * are read in slices.
 */
export function* readWords(text: string, onWord: OnWord): Sliced<Reading> {
  const isLong = text.length > SLICE;
  const state: State = {
    text,
    at: 0,
    open: null,
    onWord,
    table: wordTable(),
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
    // Others may be read between the slices of a long one.
    ring: isLong ? new Uint16Array(MAX_ENDING) : ring.fill(0),
    ringCount: 0,
  };
  for (let end = SLICE; end < text.length; end += SLICE) {
    readUntil(state, end);
    yield;
  }
  readUntil(state, text.length);
  flushLetters(state);
  onWord(SENTENCE_END, state.position + 1, text.length, text.length);
  forgetText();
  return { hasLongWord: state.hasLongWord, farAway: state.farAway };
}

/** A word that the end of a slice went through. */
interface OpenWord {
  readonly start: number;
  readonly hash: number;
  readonly letters: number;
  readonly hasDigit: boolean;
}

const NO_WORD: Omit<OpenWord, "start"> = { hash: FNV_OFFSET, letters: 0, hasDigit: false };

/** Reads on to `end`, or a few characters further. */
function readUntil(state: State, end: number): void {
  const { text, open } = state;
  const { maybe } = state.table;
  const length = text.length;
  let at = state.at;
  let start = open?.start ?? at;
  let { hash, letters, hasDigit } = open ?? NO_WORD;
  state.open = null;
  while (at < end) {
    let code = 0;
    let folded = 0;
    // The word that begins here, if one does.
    while (at < end) {
      code = text.charCodeAt(at);
      // Nearly every character of nearly every text.
      if (code >= 0x61 && code <= 0x7a) {
        letters += 1;
        hash = Math.imul(hash ^ code, FNV_PRIME);
        at += 1;
        continue;
      }
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
      if (folded === SEPARATOR) {
        if (!((code === 0x27 || code === 0x2019) && isContraction(text, at))) break;
      } else if (folded !== SKIP) {
        if (isIdeographic(folded)) break;
        if (code >= 0x30 && code <= 0x39) hasDigit = true;
        letters += 1;
        hash = Math.imul(hash ^ folded, FNV_PRIME);
      }
      at = next;
    }
    // A word may be as long as the text.
    if (at >= end && end < length) {
      state.open = { start, hash, letters, hasDigit };
      break;
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
      if (at - state.runStart >= LONG_WORD) state.hasLongWord = true;
    }
    if (at >= length) break;
    if (folded > SKIP) {
      readIdeograph(state, folded, at);
      at += 1;
    } else if (text.charCodeAt(at) === 0x20) at += 1;
    else at = readSeparator(state, code, at);
    start = at;
    hash = FNV_OFFSET;
    letters = 0;
    hasDigit = false;
  }
  state.at = at;
}

const ring = new Uint16Array(MAX_ENDING);

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
  const { words } = state.table;
  if (letters === 1) {
    if (state.letters !== "" && start - state.lettersEnd > 1) flushLetters(state);
    if (state.letters === "") {
      state.lettersStart = start;
      state.lettersPosition = state.position;
    }
    if (state.letters.length < 24)
      state.letters += String.fromCharCode(foldCode(state.text.charCodeAt(end - 1)));
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
  const found = state.table.words.get(hashWord(letters));
  if (found !== undefined) emit(state, found, state.lettersStart, state.lettersEnd);
}

function noteFarAway(state: State, start: number): void {
  if (state.farAway < 0 && state.text.slice(start - FAR_AWAY, start).trim() === "") state.farAway = start;
}

function readIdeograph(state: State, folded: number, at: number): void {
  if (state.letters !== "") flushLetters(state);
  if (at - state.wordEnd > FAR_AWAY) noteFarAway(state, at);
  state.position += 1;
  state.ring[state.ringCount % MAX_ENDING] = folded;
  state.ringCount += 1;
  state.wordEnd = at + 1;
  const candidates = state.table.endings.get(folded);
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
    }
    if (code !== 0x5f) state.isJoined = false;
    return next;
  }
  state.isJoined = false;
  const { position } = state;
  if (code === 0x0a) {
    state.wordsOnLine = 0;
    state.position += 1;
  } else if (
    code === 0x2e ||
    code === 0x21 ||
    code === 0x3f ||
    code === 0x3b ||
    code === 0x3002 ||
    code === 0xff01 ||
    code === 0xff1f
  ) {
    if (code >= 0x80 || code === 0x3b || endsSentence(text.charCodeAt(next))) {
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
    if (at === state.wordEnd && isAddressPart(text.charCodeAt(next)))
      onWord(ADDRESS, position + 1, state.wordStart, next);
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
  if (next >= 0x80) return foldCode(next) === SKIP;
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
    if (ring[(count - back) % MAX_ENDING] !== known.charCodeAt(known.length - back)) return false;
  }
  return true;
}
