/**
 * The places that one attempt holds in its limiters. While it stands still, because a person is asked, others have them.
 *
 * Invariant: once `leave` was called nothing is held, and nothing that was under way is taken any more.
 */
import { linkAbort, type LinkedAbort } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import type { Limiter } from "./limiter.ts";

/** Gives the places back while `wait` lasts, and takes them again before it goes on. */
export type Standstill = <T>(wait: () => Promise<T>) => Promise<T>;

export interface Places {
  add(limiter: Limiter, leave: () => void): void;
  leave(): void;
  standstill<T>(wait: () => Promise<T>): Promise<T>;
}

interface Place {
  readonly limiter: Limiter;
  leave: () => void;
}

/** @param kept the limiter whose place is kept also while the attempt stands still. */
export function createPlaces(signal: AbortSignal, kept: Limiter | undefined): Places {
  return new HeldPlaces(signal, kept);
}

/** A class, because every call makes one: closures would cost it each time. */
class HeldPlaces implements Places {
  readonly #signal: AbortSignal;
  readonly #kept: Limiter | undefined;
  #held: Place[] = [];
  #waits = 0;
  #isOver = false;
  /** Made by the first standstill: most attempts have none. */
  #over: LinkedAbort | undefined;

  constructor(signal: AbortSignal, kept: Limiter | undefined) {
    this.#signal = signal;
    this.#kept = kept;
  }

  add(limiter: Limiter, leave: () => void): void {
    this.#held.push({ limiter, leave });
  }

  leave(): void {
    this.#isOver = true;
    this.#over?.abort(endedError());
    const places = this.#held;
    this.#held = [];
    for (let at = places.length - 1; at >= 0; at -= 1) places[at]?.leave();
  }

  async standstill<T>(wait: () => Promise<T>): Promise<T> {
    this.#over ??= linkAbort(this.#signal);
    if (this.#isOver) this.#over.abort(endedError());
    const { signal } = this.#over;
    this.#waits += 1;
    if (this.#waits === 1) for (const { leave } of this.#givenBack().toReversed()) leave();
    try {
      return await wait();
    } finally {
      this.#waits -= 1;
      if (this.#waits === 0) await this.#takeAgain(signal);
    }
  }

  #givenBack(): Place[] {
    return this.#held.filter(({ limiter }) => limiter !== this.#kept);
  }

  async #takeAgain(signal: AbortSignal): Promise<void> {
    for (const place of this.#givenBack()) {
      const leave = await place.limiter.reenter(signal);
      if (this.#held.includes(place)) place.leave = leave;
      else leave();
    }
  }
}

function endedError(): PortcullisError {
  return new PortcullisError("cancelled", "the attempt is over");
}
