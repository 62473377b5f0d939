/** How much one call may ask of a person: every question is counted, and all of them together have their own time. */
import type { Clock } from "../base/clock.ts";
import { rpcCodes } from "../protocol/codes.ts";
import { refusal } from "./refusal.ts";

export interface InputLimits {
  /** Questions of one call. Default 10. */
  readonly perCall: number;
  /** Questions of one server within a minute, over all calls. Default 20. */
  readonly perMinute: number;
  /** Waiting for answers within one call, in all, milliseconds. Default 600,000. */
  readonly totalMs: number;
  /** How often a person may correct an answer that does not fit. Default 3. */
  readonly attempts: number;
}

export const DEFAULT_INPUT_LIMITS: InputLimits = {
  perCall: 10,
  perMinute: 20,
  totalMs: 600_000,
  attempts: 3,
};

/** The questions of one server within the last minute. */
export interface QuestionRate {
  /** @throws PortcullisError `input_refused`. */
  take(): void;
}

const MINUTE_MS = 60_000;

export function createQuestionRate(clock: Clock, perMinute: number): QuestionRate {
  let times: number[] = [];
  return {
    take() {
      const nowMs = clock.monotonic();
      times = times.filter((atMs) => atMs > nowMs - MINUTE_MS);
      if (times.length >= perMinute) {
        throw refusal(
          `the server asked ${perMinute} questions within a minute; no more are answered for now`,
          rpcCodes.internalError,
        );
      }
      times.push(nowMs);
    },
  };
}
