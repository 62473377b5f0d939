/** Who uses a connection now: what is unused ends after a while, and what is to be replaced ends once it is unused. */
import type { Clock, Timer } from "../base/clock.ts";

/** `watch`: it is only listened to. That keeps it from being ended as unused, but nothing is lost where it is ended. */
export type UseKind = "call" | "watch";

export interface Use {
  /** Calls that run over it. */
  readonly calls: number;
  /** Marks use; the returned function marks its end. Default: a call. */
  begin(kind?: UseKind): () => void;
  /** From now on a time without use counts. */
  watch(): void;
  /** No time counts any more. */
  stop(): void;
  /** Resolves when no call runs over it. */
  over(): Promise<void>;
}

export interface UseOptions {
  readonly clock: Clock;
  /** How long it may be unused, milliseconds; `null`: for ever. Asked whenever it falls out of use. */
  readonly idleMs: () => number | null;
  readonly onIdle: () => void;
}

export function createUse({ clock, idleMs, onIdle }: UseOptions): Use {
  const counts = { call: 0, watch: 0 };
  let isWatched = false;
  let timer: Timer | undefined;
  /** On the monotonic clock, like when the timer fires. */
  let unusedSinceMs = 0;
  let dueMs = 0;
  let waiting: (() => void)[] = [];

  /** The timer is not started anew by every use: it looks at the time when it fires. */
  const look = (nowMs: number): void => {
    const mostMs = idleMs();
    if (mostMs === null || counts.call + counts.watch > 0 || !isWatched) return;
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

  const lookAtCounts = (): void => {
    unusedSinceMs = clock.monotonic();
    look(unusedSinceMs);
    if (counts.call > 0) return;
    const told = waiting;
    waiting = [];
    for (const tell of told) tell();
  };

  return {
    get calls() {
      return counts.call;
    },
    begin(kind = "call") {
      counts[kind] += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        counts[kind] -= 1;
        if (counts[kind] === 0) lookAtCounts();
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
    over: () => (counts.call === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
