/**
 * Time as an argument. Nothing outside `base/` reads the wall clock or starts a timer by itself, so a test can hold
 * time still (`manual-clock.ts`) and a wait can always be ended by its signal.
 */
import { abortReason } from "./abort.ts";

/** A timer that was started on a clock. */
export interface Timer {
  /** Ends the timer; a timer that has fired or was cancelled before is left alone. */
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch: for what people read and for records. */
  now(): number;
  /** Milliseconds since some fixed point, never stepped backwards: for durations and deadlines. */
  monotonic(): number;
  /** Runs `fire` once after `delayMs` (at least 0). A timer does not keep the process alive by itself. */
  timer(delayMs: number, fire: () => void): Timer;
  /** Resolves after `delayMs`. @throws the signal's reason as soon as `signal` is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that Node's timers take; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

let runningTimers = 0;

/** How many timers of the system clock are running now: the leak check of the test suite reads it. */
export function countRunningTimers(): number {
  return runningTimers;
}

function startTimer(delayMs: number, fire: () => void, keepsAlive: boolean): Timer {
  runningTimers += 1;
  let isRunning = true;
  const stop = (): void => {
    if (!isRunning) return;
    isRunning = false;
    runningTimers -= 1;
  };
  const handle = setTimeout(
    () => {
      stop();
      fire();
    },
    Math.min(Math.max(delayMs, 0), MAX_TIMER_MS),
  );
  if (!keepsAlive) handle.unref();
  return {
    cancel() {
      clearTimeout(handle);
      stop();
    },
  };
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (delayMs, fire) => startTimer(delayMs, fire, false),
  sleep: (delayMs, signal) => sleepOn((ms, fire) => startTimer(ms, fire, true), delayMs, signal),
};

/** A `sleep` made of a way to start timers; shared by the system clock and the manual one. */
export function sleepOn(
  startTimerOn: (delayMs: number, fire: () => void) => Timer,
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(abortReason(signal as AbortSignal));
    };
    const timer = startTimerOn(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
