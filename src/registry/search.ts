/**
 * Finding tools by words: BM25 over name, title, description and parameters, names counting most. Words are folded and cut to a
 * simple stem; a word that nobody knows is matched by its beginning or as a slip of the pen. Chinese, Japanese and Korean text is
 * taken apart into pairs of characters. Made anew when the catalog changes.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import { editDistance } from "../jsonschema/issues.ts";

export interface SearchableTool {
  readonly exposedName: string;
  readonly server: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
}

interface SearchHit<Item> {
  readonly item: Item;
  readonly score: number;
}

export interface ToolSearch<Item extends SearchableTool> {
  /** Best first; at most `limit` (default 10). */
  find(
    query: string,
    options?: { readonly server?: string; readonly limit?: number },
  ): readonly SearchHit<Item>[];
}

/** BM25's usual constants. */
const K1 = 1.2;
const B = 0.75;
const MAX_QUERY_WORDS = 20;
const MAX_TEXT = 4_000;
const MAX_PARAMETERS = 60;
/** Different words that are indexed: honest catalogs have a tenth, and a question is compared with all of them. */
const MAX_WORDS = 50_000;
/** Words that may be a slip of the pen and are compared letter by letter, for one question. */
const MAX_COMPARED = 30_000;
/** What a word counts in each field. */
const WEIGHTS = { name: 4, server: 2, title: 2, description: 1, parameters: 0.5 } as const;

interface Posting {
  readonly at: number;
  /** Weighted occurrences. */
  readonly count: number;
}

/** `toolSearch` without a pause. */
export function createToolSearch<Item extends SearchableTool>(items: readonly Item[]): ToolSearch<Item> {
  return atOnce(toolSearch(items));
}

/** Makes the index over `items`, a slice per item. */
export function* toolSearch<Item extends SearchableTool>(items: readonly Item[]): Sliced<ToolSearch<Item>> {
  const postings = new Map<string, Posting[]>();
  const lengths: number[] = [];
  for (const [at, item] of items.entries()) {
    if (at > 0) yield;
    const counts = new Map<string, number>();
    let length = 0;
    const add = (text: string, weight: number): void => {
      for (const word of wordsOf(text.slice(0, MAX_TEXT))) {
        counts.set(word, (counts.get(word) ?? 0) + weight);
        length += weight;
      }
    };
    add(item.name, WEIGHTS.name);
    add(item.server, WEIGHTS.server);
    add(item.title ?? "", WEIGHTS.title);
    add(item.description ?? "", WEIGHTS.description);
    add(parameterText(item.inputSchema), WEIGHTS.parameters);
    lengths.push(length);
    for (const [word, count] of counts) {
      const list = postings.get(word);
      if (list === undefined) {
        if (postings.size < MAX_WORDS) postings.set(word, [{ at, count }]);
      } else list.push({ at, count });
    }
  }
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1);

  /** The word itself, or those that it may stand for, each with how far it counts. */
  const expand = (word: string, allowance: { words: number }): readonly (readonly [string, number])[] => {
    if (postings.has(word)) return [[word, 1]];
    if (word.length < 3) return [];
    const found: [string, number][] = [];
    const limit = word.length > 6 ? 3 : 2;
    for (const known of postings.keys()) {
      if (known.startsWith(word)) found.push([known, 0.7]);
      else if (word.length > 3 && known[0] === word[0] && allowance.words > 0) {
        allowance.words -= 1;
        if (editDistance(word, known, limit) < limit) found.push([known, 0.4]);
      }
    }
    return found.sort(([, one], [, other]) => other - one).slice(0, 20);
  };

  return {
    find(query, { server, limit = 10 } = {}) {
      const scores = new Map<number, number>();
      const words = [...new Set(wordsOf(query.slice(0, 1_000)))].slice(0, MAX_QUERY_WORDS);
      const allowance = { words: MAX_COMPARED };
      for (const [word, weight] of words.flatMap((asked) => expand(asked, allowance))) {
        const list = postings.get(word) ?? [];
        const rarity = Math.log(1 + (items.length - list.length + 0.5) / (list.length + 0.5));
        for (const { at, count } of list) {
          const norm = 1 - B + (B * (lengths[at] ?? 0)) / averageLength;
          const score = (rarity * weight * count * (K1 + 1)) / (count + K1 * norm);
          scores.set(at, (scores.get(at) ?? 0) + score);
        }
      }
      return [...scores]
        .flatMap(([at, score]) => {
          const item = items[at];
          return item === undefined || (server !== undefined && item.server !== server)
            ? []
            : [{ item, score }];
        })
        .sort(
          (one, other) => other.score - one.score || (one.item.exposedName < other.item.exposedName ? -1 : 1),
        )
        .slice(0, Math.max(1, Math.min(limit, 100)));
    },
  };
}

function parameterText(schema: JsonObject): string {
  const properties = ownProperty(schema, "properties");
  if (!isJsonObject(properties)) return "";
  const parts: string[] = [];
  for (const name of Object.keys(properties).slice(0, MAX_PARAMETERS)) {
    const property = properties[name];
    const description = isJsonObject(property) ? ownProperty(property, "description") : undefined;
    parts.push(name, typeof description === "string" ? description.slice(0, 200) : "");
  }
  return parts.join(" ");
}

const STOP_WORDS = new Set(
  "a an and are as at be by for from in into is it of on or that the this to use used when with you your".split(
    " ",
  ),
);
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** `createPullRequest`, `create_pull_request` and "create pull requests" give the same words. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  const spaced = text
    .normalize("NFKC")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  for (const part of spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (CJK.test(part)) words.push(...pairsOf(part));
    else if (!STOP_WORDS.has(part)) words.push(stem(part));
  }
  return words;
}

function pairsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Plurals and the commonest endings; wrong now and then, but the same way on both sides. */
function stem(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  const singular = word
    .replace(/ies$/, "y")
    .replace(/(ss|x|ch|sh)es$/, "$1")
    .replace(/([^s])s$/, "$1");
  const plain = singular.replace(/(?:ing|ed)$/, "");
  return (plain.length >= 3 ? plain : singular).replace(/e$/, "");
}
