/**
 * The one fixed order around every attempt: deadline → retry → limiter → breaker → attempt.
 *
 * - The deadline spans all attempts and the waits between them.
 * - The place in the limiter is given back before a retry waits, so a sleeping call holds no slot.
 * - A refusal by limiter or breaker is never counted as a failure of the server.
 */
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import { nextDelayMs, retryBackoff } from "./backoff.ts";
import type { Breaker } from "./breaker.ts";
import { classifyFailure } from "./failure.ts";
import type { Limiter } from "./limiter.ts";
import { mayRetry, RETRIES_PER_CALL, type RetryBudget } from "./retry.ts";

export interface RunPlan {
  /** The caller's: aborting ends the wait, the attempt and the retries. */
  readonly signal: AbortSignal;
  /** For all attempts together, milliseconds. */
  readonly totalMs: number;
  /** L0, or marked idempotent by the operator: nothing else is ever sent twice. */
  readonly mayRepeat: boolean;
  readonly budget: RetryBudget;
  readonly limiters: readonly Limiter[];
  readonly breaker: Breaker;
  /** Waits for a connection: holds no slot, and the breaker was asked before anything is started. */
  readonly ready?: (signal: AbortSignal) => Promise<void>;
  /** Told before each wait: number of the failed attempt, its error, the wait. */
  readonly onRetry?: (attempt: number, error: PortcullisError, delayMs: number) => void;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** The attempt's own number, from 1, and the signal that ends it. */
export type Attempt<T> = (attempt: number, signal: AbortSignal) => Promise<T>;

/**
 * Runs `attempt` under the plan.
 *
 * @throws PortcullisError of the last attempt; `timed_out` for the deadline; `queue_full`, `breaker_open`; or the
 * caller's abort reason. `data.attempts` is not added: the attempt itself counts.
 */
export async function run<T>(deps: RunDeps, plan: RunPlan, attempt: Attempt<T>): Promise<T> {
  const { clock, random } = deps;
  const link = linkAbort(plan.signal);
  const deadlineMs = clock.monotonic() + plan.totalMs;
  const timer = clock.timer(plan.totalMs, () => {
    link.abort(
      new PortcullisError("timed_out", `no answer within ${plan.totalMs / 1_000} s in all`, {
        data: { totalMs: plan.totalMs },
      }),
    );
  });
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await runOnce(plan, link.signal, () => attempt(tries, link.signal));
      } catch (cause) {
        if (link.signal.aborted) throw cause;
        const error = toPortcullisError(cause);
        const failure = classifyFailure(error);
        const delayMs = nextDelayMs(retryBackoff, tries, random, failure.retryAfterMs);
        const isWorth = mayRetry({
          mayRepeat: plan.mayRepeat,
          isTransient: failure.isTransient,
          tries,
          retriesPerCall: RETRIES_PER_CALL,
          leftMs: deadlineMs - clock.monotonic(),
          delayMs,
        });
        if (!isWorth || !plan.budget.take()) throw error;
        plan.onRetry?.(tries, error, delayMs);
        await clock.sleep(delayMs, link.signal);
      }
    }
  } finally {
    timer.cancel();
    link.unlink();
  }
}

async function runOnce<T>(plan: RunPlan, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const leaves: (() => void)[] = [];
  plan.breaker.check();
  await plan.ready?.(signal);
  try {
    for (const limiter of plan.limiters) leaves.push(await limiter.enter(signal));
    const passage = plan.breaker.enter();
    try {
      const value = await attempt();
      passage.end("succeeded");
      return value;
    } catch (cause) {
      const error = toPortcullisError(cause);
      const isOurs = signal.aborted && error.code !== "timed_out";
      if (!isOurs && classifyFailure(error).countsForBreaker) passage.end("failed");
      else passage.end(answersProveLife(error) && !isOurs ? "succeeded" : "abandoned");
      throw cause;
    }
  } finally {
    for (const leave of leaves.toReversed()) leave();
  }
}

/** Any answer on purpose is life: it clears the count. */
function answersProveLife(error: PortcullisError): boolean {
  return (
    error.code === "remote_error" ||
    error.code === "invalid_arguments" ||
    error.code === "auth_required" ||
    error.code === "rate_limited"
  );
}
