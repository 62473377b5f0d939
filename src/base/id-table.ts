/**
 * Things that are under way, by a number that was given to them in rising order. For the reason in `roster.ts` it is no `Map`:
 * an open table with linear probing, whose entries move up into the gap of one that leaves.
 */

export interface IdTable<T> {
  /** @param id a whole number, 0 or more, that is not in it. */
  set(id: number, item: T): void;
  get(id: number): T | undefined;
  /** Takes it out; `undefined` where it is not there. */
  take(id: number): T | undefined;
  readonly size: number;
  /** In the order of their ids. */
  list(): T[];
}

interface Entry<T> {
  readonly id: number;
  readonly item: T;
}

const FIRST_PLACES = 16;

export function createIdTable<T>(): IdTable<T> {
  let places: (Entry<T> | undefined)[] = emptyPlaces(FIRST_PLACES);
  let size = 0;

  /** Where `id` is, or the empty place at which the search for it ends: there is always one. */
  const find = (id: number): number => {
    const mask = places.length - 1;
    let at = id & mask;
    for (let entry = places[at]; entry !== undefined && entry.id !== id; entry = places[at])
      at = (at + 1) & mask;
    return at;
  };

  const grow = (): void => {
    const before = places;
    places = emptyPlaces(before.length * 2);
    for (const entry of before) if (entry !== undefined) places[find(entry.id)] = entry;
  };

  /** Moves those up that were pushed on by the one that leaves, so that no search ends too early. */
  const close = (gap: number): void => {
    const mask = places.length - 1;
    let empty = gap;
    places[empty] = undefined;
    for (let at = (empty + 1) & mask; ; at = (at + 1) & mask) {
      const entry = places[at];
      if (entry === undefined) return;
      const isPastHome = ((at - (entry.id & mask)) & mask) >= ((at - empty) & mask);
      if (!isPastHome) continue;
      places[empty] = entry;
      places[at] = undefined;
      empty = at;
    }
  };

  return {
    set(id, item) {
      if ((size + 1) * 2 > places.length) grow();
      places[find(id)] = { id, item };
      size += 1;
    },
    get: (id) => places[find(id)]?.item,
    take(id) {
      const at = find(id);
      const entry = places[at];
      if (entry === undefined) return undefined;
      close(at);
      size -= 1;
      return entry.item;
    },
    get size() {
      return size;
    },
    list: () =>
      places
        .filter((entry) => entry !== undefined)
        .sort((one, other) => one.id - other.id)
        .map(({ item }) => item),
  };
}

function emptyPlaces<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
