/**
 * Reads a pipe no faster than what comes is worth: what a server says unasked is taken at a bounded rate, beyond which the pipe fills
 * and the server waits. A flood costs this process, and the server itself, a small part of a processor instead of all of it.
 */
import type { Readable } from "node:stream";
import type { Clock, Timer } from "../base/clock.ts";

export interface PacedPipe {
  /** So much work was done for something that nobody waited for. Units of about 2 µs. */
  spend(units: number): void;
  /** Reads on without a limit: the process is gone, and so is what it could write. */
  release(): void;
}

const BURST_UNITS = 5_000;
/** About a twentieth of a processor. */
const UNITS_PER_SECOND = 25_000;
/** Shorter pauses cost more than they save. */
const LEAST_PAUSE_MS = 5;

export function createPacedPipe(stream: Readable, clock: Clock): PacedPipe {
  let room = BURST_UNITS;
  let filledMs = clock.monotonic();
  let timer: Timer | undefined;
  let isReleased = false;

  const readOn = (): void => {
    timer = undefined;
    stream.resume();
  };

  return {
    spend(units) {
      const nowMs = clock.monotonic();
      room = Math.min(BURST_UNITS, room + ((nowMs - filledMs) / 1_000) * UNITS_PER_SECOND) - units;
      filledMs = nowMs;
      const pauseMs = (-room / UNITS_PER_SECOND) * 1_000;
      if (pauseMs < LEAST_PAUSE_MS || isReleased || timer !== undefined) return;
      stream.pause();
      timer = clock.timer(pauseMs, readOn);
    },
    release() {
      isReleased = true;
      if (timer === undefined) return;
      timer.cancel();
      readOn();
    },
  };
}
