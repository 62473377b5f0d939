/**
 * Finds many literal texts at once, in time linear in the text whatever the texts are (Aho and Corasick, 1975).
 * Built once per set of texts; memory grows with their total length.
 */
import { atOnce, type Sliced } from "../base/slices.ts";

export interface MultiSearch {
  /** The parts of `text` that any of the literals covers, in order, overlapping and touching ones merged; end is exclusive. */
  find(text: string): readonly Span[];
  /** The same in slices, where the text is long. */
  search(text: string): Sliced<readonly Span[]>;
}

/** Characters that are searched without a pause: a millisecond or two of them. */
const SLICE = 65_536;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A literal and whether it counts only where no ASCII letter or digit touches it. */
export interface Literal {
  readonly text: string;
  readonly wholeWord: boolean;
}

const ROOT = 0;
const PAIRS = 0x4000;

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 127 + text.charCodeAt(at + 1)) & (PAIRS - 1);
}

/** @param literals empty ones are ignored. */
export function createMultiSearch(literals: readonly Literal[]): MultiSearch {
  // Edges of the trie in one map: node × 65,536 + code unit → node.
  const edges = new Map<number, number>();
  const fail: number[] = [ROOT];
  /** Length of the longest literal that ends at a node, by itself or through its failure links; 0: none. */
  const longest: number[] = [0];
  /** Length of the whole-word literal that ends at a node by itself; 0: none. */
  const wordLength: number[] = [0];
  /** The nearest node with a whole-word literal: the node itself or one on its failure links; the root: none. */
  const wordNode: number[] = [ROOT];
  /** Pairs of code units, hashed, with which some literal begins: nearly every place of a text is passed by this alone. */
  const pairs = new Uint8Array(PAIRS);
  const starts = new Uint8Array(0x10000);
  const depthOrder: TrieNode[] = [];

  for (const { text, wholeWord } of literals) {
    if (text === "") continue;
    let node = ROOT;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const key = node * 0x10000 + code;
      let child = edges.get(key);
      if (child === undefined) {
        child = fail.length;
        edges.set(key, child);
        fail.push(ROOT);
        longest.push(0);
        wordLength.push(0);
        wordNode.push(ROOT);
        depthOrder.push({ node: child, parent: node, code });
      }
      node = child;
    }
    starts[text.charCodeAt(0)] = 1;
    if (text.length > 1) pairs[pairAt(text, 0)] = 1;
    else pairs.fill(1);
    const lengths = wholeWord ? wordLength : longest;
    lengths[node] = text.length;
  }
  for (const { node, parent, code } of sortByDepth(depthOrder)) {
    // Failure links need every shorter node done first, so the nodes are walked level by level.
    const link = parent === ROOT ? ROOT : step(edges, fail, fail[parent] ?? ROOT, code);
    fail[node] = link;
    longest[node] = Math.max(longest[node] ?? 0, longest[link] ?? 0);
    wordNode[node] = (wordLength[node] ?? 0) > 0 ? node : (wordNode[link] ?? ROOT);
  }

  function* search(text: string): Sliced<readonly Span[]> {
    const spans: { start: number; end: number }[] = [];
    let node = ROOT;
    for (let from = 0; from < text.length; from += SLICE) {
      if (from > 0) yield;
      node = searchPart(text, from, Math.min(from + SLICE, text.length), node, spans);
    }
    return spans;
  }

  /** @returns the node at `to`. */
  const searchPart = (text: string, from: number, to: number, entered: number, spans: Span[]): number => {
    let node = entered;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (node === ROOT && (starts[code] === 0 || pairs[pairAt(text, at)] === 0)) continue;
      node = step(edges, fail, node, code);
      const plain = longest[node] ?? 0;
      if (plain > 0) push(spans, at + 1 - plain, at + 1);
      for (let word = wordNode[node] ?? ROOT; word !== ROOT; word = wordNode[fail[word] ?? ROOT] ?? ROOT) {
        const start = at + 1 - (wordLength[word] ?? 0);
        if (isAlone(text, start, at + 1)) push(spans, start, at + 1);
      }
    }
    return node;
  };

  return { find: (text) => atOnce(search(text)), search };
}

function step(edges: Map<number, number>, fail: readonly number[], from: number, code: number): number {
  let node = from;
  for (;;) {
    const next = edges.get(node * 0x10000 + code);
    if (next !== undefined) return next;
    if (node === ROOT) return ROOT;
    node = fail[node] ?? ROOT;
  }
}

interface TrieNode {
  readonly node: number;
  readonly parent: number;
  readonly code: number;
}

function sortByDepth(nodes: readonly TrieNode[]): readonly TrieNode[] {
  const depth: number[] = [0];
  // A parent is always made before its children.
  for (const { node, parent } of nodes) depth[node] = (depth[parent] ?? 0) + 1;
  return [...nodes].sort((one, other) => (depth[one.node] ?? 0) - (depth[other.node] ?? 0));
}

function push(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last !== undefined && last.end >= from; last = spans.at(-1)) {
    from = Math.min(from, last.start);
    spans.pop();
  }
  spans.push({ start: from, end });
}

function isAlone(text: string, start: number, end: number): boolean {
  return !isAsciiWord(text.charCodeAt(start - 1)) && !isAsciiWord(text.charCodeAt(end));
}

/** False for `NaN`, that is, beyond the ends of the text. */
function isAsciiWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}
