/** How long to wait before the next try. Pure. */
import type { Random } from "../base/random.ts";

export interface BackoffPlan {
  /** Before the second try. */
  readonly firstMs: number;
  /** Each wait is this many times the one before. */
  readonly factor: number;
  readonly maxMs: number;
  /** 0 to 1: how much of a wait is left to chance. 0.5: between half and the whole. */
  readonly jitter: number;
}

/** Restarts of a stdio server: 1, 2, 4 s. */
export const restartBackoff: BackoffPlan = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.2 };
/** Reconnects over HTTP: 1, 2, 4, 8 s. */
export const reconnectBackoff: BackoffPlan = { firstMs: 1_000, factor: 2, maxMs: 8_000, jitter: 0.2 };
/** Retries of a call inside its deadline. */
export const retryBackoff: BackoffPlan = { firstMs: 200, factor: 3, maxMs: 5_000, jitter: 0.5 };

/**
 * The wait before try number `tryNumber + 1`.
 *
 * @param tryNumber how many tries were made so far, from 1.
 * @param retryAfterMs what the peer asked for; obeyed as a lower bound.
 */
export function nextDelayMs(plan: BackoffPlan, tryNumber: number, random: Random, retryAfterMs = 0): number {
  const wholeMs = Math.min(plan.maxMs, plan.firstMs * plan.factor ** Math.max(0, tryNumber - 1));
  const delayMs = wholeMs * (1 - plan.jitter * random.fraction());
  return Math.round(Math.max(delayMs, retryAfterMs));
}
