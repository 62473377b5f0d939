/**
 * What a JSON text says that its parsed value does not: a key given twice (the last one wins), `__proto__` as a name, numbers
 * that are read as others. Two readers could take such a text differently, so that another thing is judged than is sent.
 */
import { parseJson } from "./json.ts";

/** Said of a key wherever JSON is read. */
export const keyMessages = {
  twice: "this key stands here twice: remove one of them",
  proto: "`__proto__` cannot be a name: choose another",
} as const;

/**
 * What is ambiguous or inexact in `text`, as a sentence; `undefined` where it says what it means. Cheap where nothing is wrong:
 * one pass over the text and one over the value.
 *
 * @param text JSON.
 * @param value what `text` was parsed to.
 */
export function findInexact(text: string, value: unknown): string | undefined {
  const names = countNames(value);
  return (
    (names.isSuspicious || names.count !== countColons(text) ? findOddKey(text) : undefined) ??
    findInexactNumber(text)
  );
}

interface Names {
  readonly count: number;
  readonly isSuspicious: boolean;
}

/** How many members the objects of a value have, all together. Not recursive: it may be nested as deep as it likes. */
function countNames(value: unknown): Names {
  let count = 0;
  let isSuspicious = false;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (Array.isArray(one)) {
      for (const item of one) if (typeof item === "object") left.push(item);
    } else if (typeof one === "object" && one !== null) {
      for (const name in one) {
        count += 1;
        if (name === "__proto__") isSuspicious = true;
        const member = (one as Record<string, unknown>)[name];
        if (typeof member === "object") left.push(member);
      }
    }
  }
  return { count, isSuspicious };
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** How many members are written in the text: outside of strings a colon stands nowhere else. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON) count += 1;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return count;
}

/** The closing quote of the string that opens at `open`; the end of the text where there is none. */
function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote;
  }
  return text.length;
}

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** The first key that cannot be taken as it is written, with its place. For texts that are known to have one. */
function findOddKey(text: string): string | undefined {
  /** The names of each object that is open; `undefined` for an array. */
  const open: (Set<string> | undefined)[] = [];
  const colon = /\s*:/y;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT) open.push(new Set());
    else if (code === OPEN_ARRAY) open.push(undefined);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    if (code !== QUOTE) continue;
    const start = at;
    at = endOfString(text, start);
    colon.lastIndex = at + 1;
    const names = open.at(-1);
    if (names === undefined || !colon.test(text)) continue;
    const name = parseJson(text.slice(start, at + 1)) as string;
    if (name === "__proto__") return `${placeOf(text, start)}: ${keyMessages.proto}`;
    if (names.has(name)) return `${placeOf(text, start)}: ${keyMessages.twice}`;
    names.add(name);
  }
  return undefined;
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const MAX_SHOWN = 40;

/** The first number that would be read as another one: an integer beyond 2^53, or what is larger than any number. */
function findInexactNumber(text: string): string | undefined {
  // Quick: without sixteen digits in a row, or an exponent of three, there is none.
  if (!/\d{16}|[eE]\+?\d{3}/.test(text)) return undefined;
  let found: string | undefined;
  JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source ?? "";
    if (found !== undefined || typeof value !== "number") return value;
    const isOther = /^-?\d+$/.test(source) && !Number.isSafeInteger(value) && String(value) !== source;
    if (isOther || !Number.isFinite(value)) found = source;
    return value;
  });
  if (found === undefined) return undefined;
  const shown = found.length > MAX_SHOWN ? `${found.slice(0, MAX_SHOWN)}…` : found;
  return `${shown} cannot be carried exactly: the largest integer is ${Number.MAX_SAFE_INTEGER}; give it as a string if the tool takes one`;
}
