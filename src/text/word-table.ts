/** The lexicon as tables for the reader: words by hash, texts of languages without spaces by their last letter. */
import { foldLiteral } from "./fold.ts";
import { LEXICON, type LexiconClass } from "./lexicon.ts";
import { classId } from "./phrases.ts";

/** Longest text of a language without spaces that is looked for. */
export const MAX_ENDING = 8;

export interface WordTable {
  /** FNV-1a of the folded word → its classes. A collision could only make a harmless word count. */
  readonly words: ReadonlyMap<number, readonly number[]>;
  readonly maybe: Uint8Array;
  /** Texts of languages without spaces, by their last code unit. */
  readonly endings: ReadonlyMap<
    number,
    readonly { readonly text: string; readonly ids: readonly number[] }[]
  >;
}

let loaded: WordTable | undefined;

export const FNV_OFFSET = 0x811c9dc5 | 0;
export const FNV_PRIME = 0x01000193;

/** FNV-1a over code units. */
export function hashWord(word: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), FNV_PRIME);
  return hash;
}

/** Made at the first text, then kept. */
export function wordTable(): WordTable {
  loaded ??= loadTable();
  return loaded;
}

function loadTable(): WordTable {
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
      const folded = foldLiteral(text).replaceAll(" ", "").slice(-MAX_ENDING);
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
const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
};

/** The classes of a word written with digits for letters. */
export function lookUpLeet(
  text: string,
  start: number,
  end: number,
  words: ReadonlyMap<number, readonly number[]>,
): readonly number[] | undefined {
  const word = text.slice(start, end).toLowerCase();
  if (!/[a-z]/.test(word)) return undefined;
  return words.get(hashWord(word.replace(/[0134578]/g, (digit) => LEET[digit] ?? digit)));
}
