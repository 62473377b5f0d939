/** Who uses a connection now: what is unused ends after a while, and what is to be replaced ends once it is unused. */
import type { Clock, Timer } from "../base/clock.ts";

export interface Use {
  readonly count: number;
  /** Marks use; the returned function marks its end. */
  begin(): () => void;
  /** From now on a time without use counts. */
  watch(): void;
  /** No time counts any more. */
  stop(): void;
  /** Resolves when nobody uses it. */
  over(): Promise<void>;
}

export interface UseOptions {
  readonly clock: Clock;
  /** How long it may be unused, milliseconds; `null`: for ever. Asked whenever it falls out of use. */
  readonly idleMs: () => number | null;
  readonly onIdle: () => void;
}

export function createUse({ clock, idleMs, onIdle }: UseOptions): Use {
  let count = 0;
  let isWatched = false;
  let timer: Timer | undefined;
  /** On the monotonic clock, like when the timer fires. */
  let unusedSinceMs = 0;
  let dueMs = 0;
  let waiting: (() => void)[] = [];

  /** The timer is not started anew by every use: it looks at the time when it fires. */
  const look = (nowMs: number): void => {
    const mostMs = idleMs();
    if (mostMs === null || count > 0 || !isWatched) return;
    const nextMs = unusedSinceMs + mostMs;
    if (nextMs <= nowMs) {
      onIdle();
      return;
    }
    if (timer !== undefined && dueMs <= nextMs) return;
    timer?.cancel();
    dueMs = nextMs;
    timer = clock.timer(nextMs - nowMs, () => {
      timer = undefined;
      look(clock.monotonic());
    });
  };

  const fallOutOfUse = (): void => {
    unusedSinceMs = clock.monotonic();
    look(unusedSinceMs);
    const told = waiting;
    waiting = [];
    for (const tell of told) tell();
  };

  return {
    get count() {
      return count;
    },
    begin() {
      count += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        count -= 1;
        if (count === 0) fallOutOfUse();
      };
    },
    watch() {
      isWatched = true;
      unusedSinceMs = clock.monotonic();
      look(unusedSinceMs);
    },
    stop() {
      isWatched = false;
      timer?.cancel();
      timer = undefined;
    },
    over: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
