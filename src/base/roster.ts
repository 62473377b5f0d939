/**
 * Things that are under way, in no order: what a `Set` would be for.
 *
 * Where things come and go all the time a `Set` (or `Map`) costs far more than it seems. Every table that it has grown or shrunk
 * out of points to the next one, so a single dead table in the old space keeps all later ones alive until the next full
 * collection, with whatever was in them: a fifth of all that a busy call made survived that way. This is an array; the last
 * one fills the gap.
 */

/** A thing on a roster, and where it stands: the roster's own. */
export interface Seat<T> {
  readonly item: T;
  at: number;
}

export interface Roster<T> {
  add(item: T): Seat<T>;
  /** @returns false where it was taken off before. */
  remove(seat: Seat<T>): boolean;
  size(): number;
  /** All that are on it now. */
  list(): T[];
}

const GONE = -1;

export function createRoster<T>(): Roster<T> {
  return new ArrayRoster<T>();
}

class ArrayRoster<T> implements Roster<T> {
  readonly #seats: Seat<T>[] = [];

  add(item: T): Seat<T> {
    const seat = { item, at: this.#seats.length };
    this.#seats.push(seat);
    return seat;
  }

  remove(seat: Seat<T>): boolean {
    if (seat.at === GONE) return false;
    const last = this.#seats.pop();
    if (last !== undefined && last !== seat) {
      this.#seats[seat.at] = last;
      last.at = seat.at;
    }
    seat.at = GONE;
    return true;
  }

  size(): number {
    return this.#seats.length;
  }

  list(): T[] {
    return this.#seats.map(({ item }) => item);
  }
}
