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
  readonly standstill: Standstill;
}

/** @param plan.kept the limiter whose place is kept also while the attempt stands still. */
export function createPlaces(plan: {
  readonly signal: AbortSignal;
  readonly kept?: Limiter | undefined;
}): Places {
  let held: { readonly limiter: Limiter; leave: () => void }[] = [];
  let waits = 0;
  let isOver = false;
  const { kept } = plan;
  /** Made by the first standstill: most attempts have none. */
  let over: LinkedAbort | undefined;

  const givenBack = (): typeof held => held.filter(({ limiter }) => limiter !== kept);

  const takeAgain = async (signal: AbortSignal): Promise<void> => {
    for (const place of givenBack()) {
      const leave = await place.limiter.reenter(signal);
      if (held.includes(place)) place.leave = leave;
      else leave();
    }
  };

  return {
    add: (limiter, leave) => void held.push({ limiter, leave }),
    leave() {
      isOver = true;
      over?.abort(endedError());
      const places = held;
      held = [];
      for (const { leave } of places.toReversed()) leave();
    },
    async standstill(wait) {
      over ??= linkAbort(plan.signal);
      if (isOver) over.abort(endedError());
      const { signal } = over;
      waits += 1;
      if (waits === 1) for (const { leave } of givenBack().toReversed()) leave();
      try {
        return await wait();
      } finally {
        waits -= 1;
        if (waits === 0) await takeAgain(signal);
      }
    },
  };
}

function endedError(): PortcullisError {
  return new PortcullisError("cancelled", "the attempt is over");
}
