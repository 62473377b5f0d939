/**
 * Judgements over a pattern's tree: how large a program it makes, and whether a backtracking engine is safe with it.
 */
import type { PatternNode } from "./pattern-syntax.ts";

/** About how many instructions a linear-time engine compiles it to. */
export function programSize(node: PatternNode): number {
  switch (node.kind) {
    case "set":
    case "any":
    case "assertion":
      return 1;
    case "look":
      return 2 + programSize(node.inner);
    case "sequence":
      return node.parts.reduce((sum, part) => sum + programSize(part), 0);
    case "alternatives":
      return node.options.reduce((sum, option) => sum + 1 + programSize(option), 0);
    case "repeat": {
      const times = node.max === Infinity ? Math.max(node.min, 1) : Math.max(node.max, 1);
      return times * (programSize(node.inner) + (node.max === node.min ? 0 : 1)) + 1;
    }
  }
}

/** The largest product of counted repeats that stand in each other; RE2 takes at most 1,000. */
export function repeatProduct(node: PatternNode): number {
  switch (node.kind) {
    case "set":
    case "any":
    case "assertion":
      return 1;
    case "look":
      return repeatProduct(node.inner);
    case "sequence":
      return Math.max(1, ...node.parts.map(repeatProduct));
    case "alternatives":
      return Math.max(1, ...node.options.map(repeatProduct));
    case "repeat": {
      const isPlain = (node.min <= 1 && node.max === Infinity) || node.max <= 1;
      const count = node.max === Infinity ? node.min : node.max;
      return (isPlain ? 1 : Math.max(count, 1)) * repeatProduct(node.inner);
    }
  }
}

/** `\p{…}` in it: each is a large table for a linear-time engine. */
export function countProperties(node: PatternNode): number {
  switch (node.kind) {
    case "set":
      return node.items.filter((item) => item.kind === "property").length;
    case "any":
    case "assertion":
      return 0;
    case "look":
    case "repeat":
      return countProperties(node.inner);
    case "sequence":
      return node.parts.reduce((sum, part) => sum + countProperties(part), 0);
    case "alternatives":
      return node.options.reduce((sum, option) => sum + countProperties(option), 0);
  }
}

interface Ways {
  /** Ways to match at one place, apart from the unbounded repeats. */
  readonly count: number;
  /** Repeats of one character that have no small bound. */
  readonly unbounded: number;
}

const ENDLESS: Ways = { count: Infinity, unbounded: Infinity };
const SMALL_BOUND = 40;

function ways(node: PatternNode): Ways {
  switch (node.kind) {
    case "set":
    case "any":
    case "assertion":
      return { count: 1, unbounded: 0 };
    case "look":
      return ENDLESS;
    case "sequence":
      return node.parts.map(ways).reduce(
        (all, part) => ({
          count: all.count * part.count,
          unbounded: all.unbounded + part.unbounded,
        }),
        { count: 1, unbounded: 0 },
      );
    case "alternatives":
      return node.options.map(ways).reduce(
        (all, option) => ({
          count: all.count + option.count,
          unbounded: Math.max(all.unbounded, option.unbounded),
        }),
        { count: 0, unbounded: 0 },
      );
    case "repeat": {
      const isCharacter = node.inner.kind === "set" || node.inner.kind === "any";
      if (isCharacter && node.max - node.min > SMALL_BOUND) return { count: 1, unbounded: 1 };
      if (isCharacter) return { count: node.max - node.min + 1, unbounded: 0 };
      const inner = ways(node.inner);
      if (inner.unbounded > 0 || node.max > 8) return ENDLESS;
      let count = 0;
      for (let times = node.min; times <= node.max; times += 1) count += inner.count ** times;
      return { count, unbounded: 0 };
    }
  }
}

/** Characters that a backtracking engine may look at again for each place that it goes back to. */
function backtrackingSize(node: PatternNode): number {
  switch (node.kind) {
    case "set":
    case "any":
    case "assertion":
    case "look":
      return 1;
    case "sequence":
      return node.parts.reduce((sum, part) => sum + backtrackingSize(part), 0);
    case "alternatives":
      return node.options.reduce((sum, option) => sum + backtrackingSize(option), 0);
    case "repeat":
      return node.max - node.min > SMALL_BOUND ? 1 : 1 + node.max * backtrackingSize(node.inner);
  }
}

export interface BacktrackingCost {
  readonly atOnce: number;
  readonly perCharacter: number;
}

/**
 * Steps that a backtracking engine can need at most; `undefined` where that is not a small number. Small is: anchored at the
 * start with at most one unbounded repeat of a single character, or not anchored and without one.
 */
export function backtrackingCost(node: PatternNode): BacktrackingCost | undefined {
  const { count, unbounded } = ways(node);
  if (count > 64) return undefined;
  const first = node.kind === "sequence" ? node.parts[0] : node;
  const isAnchored = first?.kind === "assertion" && first.text === "^";
  const work = count * backtrackingSize(node);
  if (isAnchored && unbounded === 0) return { atOnce: work / 32, perCharacter: 0 };
  if (work > 512) return undefined;
  if (isAnchored ? unbounded === 1 : unbounded === 0) return { atOnce: 0, perCharacter: work / 32 };
  return undefined;
}
