/** Takes out what ran out, once a minute, the same for every store. What is still there meanwhile is invisible all the same. */
import type { Clock, Timer } from "../base/clock.ts";

export interface SweepOptions {
  readonly clock: Clock;
  /** Takes out a bounded part. @returns whether more is left. */
  readonly sweep: () => Promise<boolean>;
  /** Told about a sweep that failed; the next one comes in its time. */
  readonly onFault: (error: unknown) => void;
}

const SWEEP_EVERY_MS = 60_000;

/** @returns the end of it; a sweep that runs then is the last, and tells no fault. */
export function startSweep({ clock, sweep, onFault }: SweepOptions): () => void {
  let isStopped = false;
  let timer: Timer | undefined;

  const plan = (delayMs: number): void => {
    if (isStopped) return;
    timer = clock.timer(delayMs, () => {
      sweep().then(
        (isMoreLeft) => plan(isMoreLeft ? 0 : SWEEP_EVERY_MS),
        (error: unknown) => {
          if (isStopped) return;
          onFault(error);
          plan(SWEEP_EVERY_MS);
        },
      );
    });
  };

  plan(SWEEP_EVERY_MS);
  return () => {
    isStopped = true;
    timer?.cancel();
  };
}
