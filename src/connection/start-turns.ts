/**
 * The turns of one start: each process that it takes waits for a place again, behind the servers that are well, and the time that
 * the start may take stands still meanwhile.
 */
import type { Clock, Timer } from "../base/clock.ts";

/** Waits for a place, off the clock; the returned function gives it back. @param failures since the last health. */
export type Admit = (signal: AbortSignal, failures: number) => Promise<() => void>;

export interface StartTurns {
  /** How many processes were let in. */
  readonly count: number;
  /** Waits for the next turn; false where none is left. The first is always there. @throws what `admit` throws. */
  next(): Promise<boolean>;
  /** The start is over: gives the place back. */
  end(): void;
}

export interface StartTurnsOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly admit: Admit | undefined;
  /** Before this start, since the last health. */
  readonly failures: number;
  readonly most: number;
  /** For all turns together, milliseconds. Asked at the first. */
  readonly limitMs: () => number;
  readonly onLimit: (limitMs: number) => void;
}

export function createStartTurns(options: StartTurnsOptions): StartTurns {
  const { clock, signal, admit, failures, most } = options;
  let count = 0;
  let usedMs = 0;
  let startedMs = 0;
  let timer: Timer | undefined;
  let leave: () => void = () => undefined;

  const end = (): void => {
    if (timer !== undefined) usedMs += clock.monotonic() - startedMs;
    timer?.cancel();
    timer = undefined;
    leave();
  };

  return {
    get count() {
      return count;
    },
    async next() {
      if (count > 0 && count >= most) return false;
      end();
      leave = (await admit?.(signal, failures + count)) ?? (() => undefined);
      count += 1;
      const limitMs = options.limitMs();
      startedMs = clock.monotonic();
      timer = clock.timer(limitMs - usedMs, () => options.onLimit(limitMs));
      return true;
    },
    end,
  };
}
