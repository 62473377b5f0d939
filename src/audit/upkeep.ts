/**
 * What the audit needs done from time to time, in a process that stays: calls of dead processes closed, the day's anchor
 * written, old records dropped. Several processes may do it on one store.
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { Store } from "../store/store.ts";
import { writeAnchor } from "./anchor.ts";
import type { CallActivity } from "./fold.ts";
import { recover } from "./recover.ts";
import { pruneAudit } from "./retention.ts";

export interface UpkeepOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Asked at every round. */
  readonly retentionMs: () => number;
  /** Calls that a dead process had left open. */
  readonly onRecovered: (calls: readonly CallActivity[]) => void;
  /** A round that failed; the next one comes all the same. */
  readonly onFault: (error: unknown) => void;
}

const EVERY_MS = 15 * 60_000;

/** Begins with a round at once. `close` ends it, and waits for a round that is under way. */
export function startUpkeep(options: UpkeepOptions): { close(): Promise<void> } {
  const { store, clock, retentionMs, onRecovered, onFault } = options;
  const controller = new AbortController();
  const { signal } = controller;
  let timer: Timer | undefined;

  const steps = [
    async (): Promise<void> => {
      const calls = await recover({ store, clock, signal });
      if (calls.length > 0) onRecovered(calls);
    },
    async (): Promise<void> => {
      // Once a day, by the process that wrote the day's anchor.
      if ((await writeAnchor(store, clock)) !== undefined) await pruneAudit(store, clock, retentionMs());
    },
  ];

  const runRound = async (): Promise<void> => {
    for (const step of steps) {
      if (signal.aborted) return;
      try {
        await step();
      } catch (error) {
        if (!signal.aborted) onFault(error);
      }
    }
    if (signal.aborted) return;
    timer = clock.timer(EVERY_MS, () => {
      round = runRound();
    });
  };

  let round = runRound();
  return {
    async close() {
      controller.abort(new Error("the upkeep of the audit is closed"));
      timer?.cancel();
      await round;
    },
  };
}
