/** Who may retry, and how often. Pure, but for the counter of a turn. */

/** The retries of one turn: at most 5, whatever the number of calls. */
export interface RetryBudget {
  /** Takes one; false where none is left. */
  take(): boolean;
}

export const RETRIES_PER_CALL = 2;
const RETRIES_PER_TURN = 5;
/** A peer that asks for a longer wait is told of to the caller instead: nobody sits through it unknowing. */
const MAX_RETRY_WAIT_MS = 60_000;

export function createRetryBudget(retries: number = RETRIES_PER_TURN): RetryBudget {
  let left = retries;
  return {
    take() {
      if (left <= 0) return false;
      left -= 1;
      return true;
    },
  };
}

export interface RetryQuestion {
  /** L0, or marked idempotent by the operator. */
  readonly mayRepeat: boolean;
  readonly isTransient: boolean;
  /** Tries made so far, from 1. */
  readonly tries: number;
  readonly retriesPerCall: number;
  /** What is left of the deadline. */
  readonly leftMs: number;
  readonly delayMs: number;
}

/** Whether another attempt is made; the budget of the turn is asked last, by the driver. */
export function mayRetry(question: RetryQuestion): boolean {
  return (
    question.mayRepeat &&
    question.isTransient &&
    question.tries <= question.retriesPerCall &&
    question.delayMs <= MAX_RETRY_WAIT_MS &&
    question.delayMs < question.leftMs
  );
}
