/**
 * The one fixed order around every attempt: deadline → retry → (a connection) → limiter → breaker → attempt.
 *
 * - The deadline spans all attempts, the queue and the waits between tries. Waiting for a connection is not counted: it has its
 *   own cap, and holds no slot.
 * - The place in the limiter is given back before a retry waits, before a connection that was lost meanwhile is waited for, and
 *   while an attempt stands still because a person is asked.
 * - An attempt is told how much is left and ends by itself: it alone knows which limit was hit, and what waits for a person.
 * - A server that asked to be left alone is: for a short while the call waits, otherwise it is told until when.
 * - A refusal by limiter or breaker is never counted as a failure of the server.
 */
import { linkAbort, throwIfAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import { nextDelayMs, retryBackoff } from "./backoff.ts";
import type { Breaker } from "./breaker.ts";
import { classifyFailure, originOf } from "./failure.ts";
import type { Hold } from "./hold.ts";
import type { Limiter } from "./limiter.ts";
import { createPlaces, type Places, type Standstill } from "./places.ts";
import { mayRetry, RETRIES_PER_CALL, type RetryBudget } from "./retry.ts";

export interface Limiters {
  /** In the order in which they are entered. */
  readonly all: readonly Limiter[];
  /** One of them whose place is kept while the attempt stands still. */
  readonly kept?: Limiter | undefined;
}

export interface RunPlan {
  /** The caller's: aborting ends the wait, the attempt and the retries. */
  readonly signal: AbortSignal;
  /** For all attempts together, milliseconds. */
  readonly totalMs: number;
  /** L0, or marked idempotent by the operator: nothing else is ever sent twice. */
  readonly mayRepeat: () => boolean;
  readonly budget: RetryBudget;
  /** Known once there is a connection. */
  readonly limiters: () => Limiters;
  readonly breaker: Breaker;
  readonly hold: Hold;
  /** Waits for a connection, no longer than its own cap; `undefined` where there is one already. */
  readonly ready?: (signal: AbortSignal) => Promise<void> | undefined;
  /** Whether it is still there after the queue. */
  readonly isReady?: () => boolean;
  /** Told before each wait: number of the failed attempt, its error, the wait. */
  readonly onRetry?: (attempt: number, error: PortcullisError, delayMs: number) => void;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** @param attempt its number, from 1. @param leftMs of the deadline: it must be over by then, but for waiting for a person. */
export type Attempt<T> = (attempt: number, leftMs: number, standstill: Standstill) => Promise<T>;

/** How much of the deadline is left. */
interface Countdown {
  leftMs(): number;
  /** Waits for `work` without counting it. */
  off(work: Promise<void>): Promise<void>;
}

/**
 * Runs `attempt` under the plan.
 *
 * @throws PortcullisError of the last attempt; `queue_full`, also where the deadline passed in the queue; `breaker_open`; what
 * `hold` and `ready` throw; or the caller's abort reason.
 */
export async function run<T>(deps: RunDeps, plan: RunPlan, attempt: Attempt<T>): Promise<T> {
  const { clock, random } = deps;
  const countdown = createCountdown(clock, plan.totalMs);
  for (let tries = 1; ; tries += 1) {
    try {
      return await runOnce(clock, plan, countdown, (standstill) =>
        attempt(tries, countdown.leftMs(), standstill),
      );
    } catch (cause) {
      if (plan.signal.aborted) throw cause;
      const error = toPortcullisError(cause);
      const failure = classifyFailure(error);
      const delayMs = nextDelayMs(retryBackoff, tries, random, failure.retryAfterMs);
      const isWorth = mayRetry({
        mayRepeat: plan.mayRepeat(),
        isTransient: failure.isTransient,
        tries,
        retriesPerCall: RETRIES_PER_CALL,
        leftMs: countdown.leftMs(),
        delayMs,
      });
      if (!isWorth || !plan.budget.take()) throw error;
      plan.onRetry?.(tries, error, delayMs);
      await clock.sleep(delayMs, plan.signal);
    }
  }
}

function createCountdown(clock: Clock, totalMs: number): Countdown {
  const startedMs = clock.monotonic();
  let uncountedMs = 0;
  return {
    leftMs: () => totalMs - (clock.monotonic() - startedMs - uncountedMs),
    async off(work) {
      const sinceMs = clock.monotonic();
      try {
        await work;
      } finally {
        uncountedMs += clock.monotonic() - sinceMs;
      }
    },
  };
}

/** Where nothing has to be waited for, nothing is. */
async function runOnce<T>(
  clock: Clock,
  plan: RunPlan,
  countdown: Countdown,
  attempt: (standstill: Standstill) => Promise<T>,
): Promise<T> {
  const entering = enterAll(clock, plan, countdown);
  const places = entering instanceof Promise ? await entering : entering;
  try {
    const passage = plan.breaker.enter();
    try {
      const value = await attempt((wait) => places.standstill(wait));
      passage.end("succeeded");
      return value;
    } catch (cause) {
      const error = toPortcullisError(cause);
      const { retryAfterMs } = classifyFailure(error);
      if (retryAfterMs > 0) plan.hold.ask(retryAfterMs);
      if (plan.signal.aborted) passage.end("abandoned");
      else if (classifyFailure(error).countsForBreaker) passage.end("failed", originOf(error));
      else passage.end(answersProveLife(error) ? "succeeded" : "abandoned");
      throw cause;
    }
  } finally {
    places.leave();
  }
}

/**
 * A connection and all places at once; where the connection was lost in the queue, or the server asked to be left alone meanwhile, the
 * places go back and it starts over.
 */
function enterAll(clock: Clock, plan: RunPlan, countdown: Countdown): Places | Promise<Places> {
  plan.breaker.check();
  const heldMs = plan.hold.waitMs(countdown.leftMs());
  if (heldMs > 0) return clock.sleep(heldMs, plan.signal).then(() => enterAll(clock, plan, countdown));
  const enter = (): Places | Promise<Places> => enterLimiters(clock, plan, countdown);
  const connecting = plan.ready?.(plan.signal);
  const entering = connecting === undefined ? enter() : countdown.off(connecting).then(enter);
  if (!(entering instanceof Promise)) return entering;
  return entering.then((places) => {
    if (plan.isReady?.() !== false && plan.hold.leftMs() === 0) return places;
    places.leave();
    return enterAll(clock, plan, countdown);
  });
}

/** Mostly every place is free, and nothing has to be waited for. */
function enterLimiters(clock: Clock, plan: RunPlan, countdown: Countdown): Places | Promise<Places> {
  throwIfAborted(plan.signal);
  const { all, kept } = plan.limiters();
  const places = createPlaces(plan.signal, kept);
  let entered = 0;
  for (const limiter of all) {
    const leave = limiter.tryEnter();
    if (leave === undefined)
      return waitForPlaces(clock, plan, countdown.leftMs(), all.slice(entered), places).then(() => places);
    places.add(limiter, leave);
    entered += 1;
  }
  return places;
}

async function waitForPlaces(
  clock: Clock,
  plan: RunPlan,
  leftMs: number,
  limiters: readonly Limiter[],
  places: Places,
): Promise<void> {
  const link = linkAbort(plan.signal);
  const timer = clock.timer(leftMs, () => {
    const message = `no place was free within ${plan.totalMs / 1_000} s`;
    link.abort(new PortcullisError("queue_full", message, { data: { wasSent: false } }));
  });
  try {
    for (const limiter of limiters) places.add(limiter, await limiter.enter(link.signal));
  } catch (error) {
    places.leave();
    throw error;
  } finally {
    timer.cancel();
    link.unlink();
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
