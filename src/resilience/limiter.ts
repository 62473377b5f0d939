/**
 * Bulkheads: so many calls at once, the rest in a bounded queue that respects abort; and so many per minute. A full queue
 * answers at once, because waiting in vain is worse than being told.
 */
import { abortReason } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";

export interface Limiter {
  /**
   * Waits for a place and returns the function that gives it back.
   * @throws PortcullisError `queue_full`, or the signal's reason.
   */
  enter(signal: AbortSignal): Promise<() => void>;
  /** A place at once, or `undefined` where none is free. */
  tryEnter(): (() => void) | undefined;
  /** Takes a place again that was given back for a while: before all others, and never told that the queue is full. */
  reenter(signal: AbortSignal): Promise<() => void>;
  readonly running: number;
  readonly waiting: number;
}

/**
 * @param name says in errors what is full, for example `github` or `this host`.
 * @param places how many at once; asked at every entry, because the configuration may change.
 */
export function createLimiter(name: string, places: () => number, maxWaiting: number): Limiter {
  let running = 0;
  const queue = new Set<{ admit: () => void }>();
  const returning = new Set<{ admit: () => void }>();

  const leave = (): (() => void) => {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      running -= 1;
      admitNext();
    };
  };

  const admitNext = (): void => {
    while (running < places()) {
      const line = returning.size > 0 ? returning : queue;
      const [next] = line;
      if (next === undefined) return;
      line.delete(next);
      next.admit();
    }
  };

  const standIn = async (line: Set<{ admit: () => void }>, signal: AbortSignal): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const entry = {
        admit: () => {
          signal.removeEventListener("abort", onAbort);
          running += 1;
          resolve();
        },
      };
      const onAbort = (): void => {
        line.delete(entry);
        reject(abortReason(signal));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      line.add(entry);
    });
  };

  const take = (): boolean => {
    if (running >= places()) return false;
    running += 1;
    return true;
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size + returning.size;
    },
    tryEnter: () => (take() ? leave() : undefined),
    async enter(signal) {
      if (signal.aborted) throw abortReason(signal);
      if (take()) return leave();
      if (queue.size >= maxWaiting) {
        throw new PortcullisError(
          "queue_full",
          `${places()} calls of \`${name}\` run and ${queue.size} wait: no more are taken`,
          {
            data: { running, waiting: queue.size },
          },
        );
      }
      await standIn(queue, signal);
      return leave();
    },
    async reenter(signal) {
      if (signal.aborted) throw abortReason(signal);
      if (!take()) await standIn(returning, signal);
      return leave();
    },
  };
}

export interface RateLimiter {
  /** Takes one of the calls of this minute for `key`. @throws PortcullisError `rate_limited` with `data.retryAfterMs`. */
  take(key: string, perMinute: number): void;
}

const MINUTE_MS = 60_000;

/** A sliding minute per key; keys without a call in the last minute cost nothing. */
export function createRateLimiter(clock: Clock): RateLimiter {
  const calls = new Map<string, number[]>();
  let sweptAtMs = 0;
  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < MINUTE_MS) return;
    sweptAtMs = nowMs;
    for (const [key, times] of calls) {
      if ((times.at(-1) ?? 0) <= nowMs - MINUTE_MS) calls.delete(key);
    }
  };
  return {
    take(key, perMinute) {
      const nowMs = clock.monotonic();
      sweep(nowMs);
      const recent = (calls.get(key) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
      const [oldest] = recent;
      if (recent.length >= perMinute && oldest !== undefined) {
        calls.set(key, recent);
        const retryAfterMs = Math.ceil(oldest + MINUTE_MS - nowMs);
        throw new PortcullisError(
          "rate_limited",
          `\`${key}\` was called ${perMinute} times within a minute; the next call may be made in ${Math.ceil(retryAfterMs / 1_000)} s`,
          {
            data: { retryAfterMs },
          },
        );
      }
      recent.push(nowMs);
      calls.set(key, recent);
    },
  };
}
