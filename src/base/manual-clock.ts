/**
 * A clock that stands still until it is told to move: timers fire in the order of their due time, and everything that a
 * fired timer sets off has run before the next one fires.
 */
import { sleepOn, type Clock, type Timer } from "./clock.ts";

export interface ManualClock extends Clock {
  /** Moves time forward by `byMs`, firing what falls due, and lets pending promise jobs run in between. */
  advance(byMs: number): Promise<void>;
  /** How many timers wait. */
  pending(): number;
  /** Milliseconds until the next timer, or `undefined` where none waits. */
  nextDueInMs(): number | undefined;
}

interface Waiting {
  dueMs: number;
  order: number;
  fire: () => void;
}

/** Lets promise jobs and already queued I/O callbacks run. */
async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** @param startMs what `now()` answers at first, milliseconds since the epoch; default 2026-01-01T00:00:00Z. */
export function createManualClock(startMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsedMs = 0;
  let order = 0;
  const waiting = new Set<Waiting>();

  const timer = (delayMs: number, fire: () => void): Timer => {
    order += 1;
    const entry: Waiting = { dueMs: elapsedMs + Math.max(delayMs, 0), order, fire };
    waiting.add(entry);
    return { cancel: () => void waiting.delete(entry) };
  };

  const next = (): Waiting | undefined => {
    let first: Waiting | undefined;
    for (const entry of waiting) {
      if (
        first === undefined ||
        entry.dueMs < first.dueMs ||
        (entry.dueMs === first.dueMs && entry.order < first.order)
      ) {
        first = entry;
      }
    }
    return first;
  };

  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    timer,
    sleep: (delayMs, signal) => sleepOn(timer, delayMs, signal),
    async advance(byMs) {
      const untilMs = elapsedMs + byMs;
      await settle();
      for (let due = next(); due !== undefined && due.dueMs <= untilMs; due = next()) {
        waiting.delete(due);
        elapsedMs = Math.max(elapsedMs, due.dueMs);
        due.fire();
        await settle();
      }
      elapsedMs = untilMs;
    },
    pending: () => waiting.size,
    nextDueInMs: () => {
      const first = next();
      return first === undefined ? undefined : first.dueMs - elapsedMs;
    },
  };
}
