/**
 * Counts every oddity and passes on only some: a burst, then one now and then. A server that floods its stdout with noise
 * costs its owner a few events a second, and the last of them says how many were left out.
 */
import type { Clock } from "../base/clock.ts";
import type { Oddity } from "./transport.ts";

export interface OddityMeter {
  /** Counts it, and passes it on where there is room. */
  note(oddity: Oddity): void;
  /** How many came, by kind. */
  counts(): Readonly<Record<string, number>>;
}

const BURST = 20;
const PER_SECOND = 2;

/** @param report gets those that pass; `Oddity.count` covers those of its kind that were left out before. */
export function createOddityMeter(clock: Clock, report: (oddity: Oddity) => void): OddityMeter {
  const totals = new Map<string, number>();
  const unreported = new Map<string, number>();
  let room = BURST;
  let filledAt = clock.monotonic();

  return {
    note(oddity) {
      const add = oddity.count ?? 1;
      totals.set(oddity.kind, (totals.get(oddity.kind) ?? 0) + add);
      const pending = (unreported.get(oddity.kind) ?? 0) + add;
      const now = clock.monotonic();
      room = Math.min(BURST, room + ((now - filledAt) / 1_000) * PER_SECOND);
      filledAt = now;
      if (room < 1) {
        unreported.set(oddity.kind, pending);
        return;
      }
      room -= 1;
      unreported.delete(oddity.kind);
      report(pending === 1 ? oddity : { ...oddity, count: pending });
    },
    counts: () => Object.fromEntries(totals),
  };
}
