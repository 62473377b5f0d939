/**
 * A set of 64-bit hashes with where each was seen first: flat arrays, no object per entry, bounded. When it is full, the
 * older half of what it knows is given up, and it says so.
 */

export interface ValueTable {
  /** What was seen first stays. */
  add(hashOne: number, hashTwo: number, source: number): void;
  /** @returns the source, or -1. */
  find(hashOne: number, hashTwo: number): number;
  /** Whether something was given up. */
  readonly hasForgotten: boolean;
  readonly size: number;
  /** Calls `visit` for everything that is known, in no order, until it answers false. */
  forEach(visit: (hashOne: number, hashTwo: number, source: number) => boolean): void;
}

interface Generation {
  /** Two per place; 0 in the first marks an empty one. */
  hashes: Int32Array;
  sources: Int32Array;
  count: number;
}

const FIRST_PLACES = 256;
/** Per generation: about 3 MB at most. */
const MAX_ENTRIES = 1 << 17;

function createGeneration(places: number): Generation {
  return { hashes: new Int32Array(places * 2), sources: new Int32Array(places), count: 0 };
}

function findIn({ hashes, sources }: Generation, one: number, two: number): number {
  const mask = sources.length - 1;
  for (let place = one & mask; ; place = (place + 1) & mask) {
    const known = hashes[place * 2];
    if (known === 0) return -1;
    if (known === one && hashes[place * 2 + 1] === two) return sources[place] ?? -1;
  }
}

/** @returns whether it was new. */
function addTo(generation: Generation, one: number, two: number, source: number): boolean {
  const { hashes, sources } = generation;
  const mask = sources.length - 1;
  for (let place = one & mask; ; place = (place + 1) & mask) {
    const known = hashes[place * 2];
    if (known === 0) {
      hashes[place * 2] = one;
      hashes[place * 2 + 1] = two;
      sources[place] = source;
      generation.count += 1;
      return true;
    }
    if (known === one && hashes[place * 2 + 1] === two) return false;
  }
}

function visitAll(
  { hashes, sources }: Generation,
  visit: (one: number, two: number, source: number) => boolean,
): boolean {
  for (let place = 0; place < sources.length; place += 1) {
    const one = hashes[place * 2] ?? 0;
    if (one !== 0 && !visit(one, hashes[place * 2 + 1] ?? 0, sources[place] ?? 0)) return false;
  }
  return true;
}

function grown(generation: Generation, places: number): Generation {
  const bigger = createGeneration(places);
  visitAll(generation, (one, two, source) => addTo(bigger, one, two, source));
  return bigger;
}

/** @param maxEntries how many a generation holds; there are two. */
export function createValueTable(maxEntries: number = MAX_ENTRIES): ValueTable {
  let current = createGeneration(FIRST_PLACES);
  let older: Generation | undefined;
  let hasForgotten = false;
  return {
    add(one, two, source) {
      if (older !== undefined && findIn(older, one, two) >= 0) return;
      if (!addTo(current, one, two, source)) return;
      if (current.count >= maxEntries) {
        hasForgotten ||= older !== undefined;
        older = current;
        current = createGeneration(FIRST_PLACES);
      } else if (current.count * 2 > current.sources.length) {
        current = grown(current, current.sources.length * 4);
      }
    },
    find(one, two) {
      const source = findIn(current, one, two);
      return source >= 0 || older === undefined ? source : findIn(older, one, two);
    },
    get hasForgotten() {
      return hasForgotten;
    },
    get size() {
      return current.count + (older?.count ?? 0);
    },
    forEach(visit) {
      if (visitAll(current, visit) && older !== undefined) visitAll(older, visit);
    },
  };
}
