/** One slow timer for everything that is open: answers that take long, event streams, clients that stopped reading. */
import type { Clock, Timer } from "../base/clock.ts";
import { createRoster } from "../base/roster.ts";

export interface Pulse {
  /** Calls `beat` at every pulse until the returned function is called. */
  add(beat: () => void): () => void;
  close(): void;
}

/** @param intervalMs between two pulses. */
export function createPulse(clock: Clock, intervalMs: number): Pulse {
  const members = createRoster<{ readonly beat: () => void; isOver: boolean }>();
  let timer: Timer | undefined;
  let isClosed = false;

  const start = (): void => {
    if (timer !== undefined || isClosed) return;
    timer = clock.timer(intervalMs, () => {
      timer = undefined;
      // One may end another.
      for (const member of members.list()) if (!member.isOver) member.beat();
      // With nobody there it sleeps; short calls in a row then share one timer instead of making one each.
      if (members.size() > 0) start();
    });
  };

  return {
    add(beat) {
      const member = { beat, isOver: false };
      const seat = members.add(member);
      start();
      return () => {
        member.isOver = true;
        members.remove(seat);
      };
    },
    close() {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}
