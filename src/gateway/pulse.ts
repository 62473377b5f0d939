/** One slow timer for everything that is open: answers that take long, event streams, clients that stopped reading. */
import type { Clock, Timer } from "../base/clock.ts";

export interface Pulse {
  /** Calls `beat` at every pulse until the returned function is called. */
  add(beat: () => void): () => void;
  close(): void;
}

/** @param intervalMs between two pulses. */
export function createPulse(clock: Clock, intervalMs: number): Pulse {
  const members = new Set<() => void>();
  let timer: Timer | undefined;
  let isClosed = false;

  const start = (): void => {
    if (timer !== undefined || isClosed) return;
    timer = clock.timer(intervalMs, () => {
      timer = undefined;
      for (const beat of Array.from(members)) if (members.has(beat)) beat();
      // With nobody there it sleeps; short calls in a row then share one timer instead of making one each.
      if (members.size > 0) start();
    });
  };

  return {
    add(beat) {
      const member = (): void => beat();
      members.add(member);
      start();
      return () => void members.delete(member);
    },
    close() {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
      members.clear();
    },
  };
}
