/** A manual clock among real processes and sockets: time moves only when told to, and the world gets a moment in between. */
import { setTimeout as pause } from "node:timers/promises";
import type { ManualClock } from "../../src/base/manual-clock.ts";

/** How far the clock moves at once, and what the world gets after it. */
const STEP_MS = 1_000;
const MOMENT_MS = 4;

export interface PassOptions {
  /** Ends it earlier. */
  readonly until?: () => boolean;
  /** While it is so the clock goes no faster than the world, so that a process has the time that it really needs. */
  readonly isBusy?: () => boolean;
}

/** Moves the clock by `ms`, in steps after which processes and sockets may answer. */
export async function pass(
  clock: ManualClock,
  ms: number,
  { until = () => false, isBusy = () => false }: PassOptions = {},
): Promise<void> {
  const endMs = clock.monotonic() + ms;
  while (clock.monotonic() < endMs && !until()) {
    const stepMs = isBusy() ? MOMENT_MS : STEP_MS;
    await clock.advance(Math.min(stepMs, endMs - clock.monotonic()));
    await pause(MOMENT_MS);
  }
}

/** Waits for `promise`; the clock moves by a few milliseconds only, for what needs small waits (batches, polls). */
export async function settled<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(5);
    await Promise.race([done.catch(() => undefined), pause(5)]);
  }
  return done;
}

/** Waits until something is so, with the clock moving like in `settled`. */
export async function becomes(clock: ManualClock, what: string, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 4_000; turn += 1) {
    if (isSo()) return;
    await clock.advance(5);
    await pause(5);
  }
  throw new Error(`it never came to be: ${what}`);
}
