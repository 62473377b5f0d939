/**
 * Steps 5 and 6 of a call, shared with reading resources and getting prompts: the second mark, then the exchange itself under
 * the fixed order of resilience. Answers with what the server said; everything else is thrown as a coded error.
 */
import type { RequestOptions } from "../client/options.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { Progress } from "../protocol/types.ts";
import type { RetryBudget } from "../resilience/retry.ts";
import { run } from "../resilience/run.ts";
import type { Trail } from "../audit/call-trail.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import type { Core } from "./core.ts";
import type { HostSession } from "./open-session.ts";

export interface ExchangePlan {
  readonly callId: string;
  readonly server: ServerConfig;
  readonly key: ConnectionKey;
  readonly trail: Trail;
  readonly signal: AbortSignal;
  readonly budget: RetryBudget;
  /** L0, or marked idempotent by the operator. */
  readonly mayRepeat: boolean;
  /** L1 and up. */
  readonly mayHaveEffect: boolean;
  readonly idleTimeoutMs: number;
  readonly onProgress?: (progress: Progress) => void;
  /** An answer that came after the call had been given up. */
  readonly onLate: () => void;
}

export interface Exchanged<Answer> {
  readonly answer: Answer;
  readonly attempts: number;
}

/** What an exchange that failed knows besides its error. */
export interface ExchangeProgress {
  attempts: number;
  /** The second mark was made: bytes may have left. */
  wasDispatched: boolean;
}

/**
 * @param send one attempt over a ready session.
 * @param progress written to as the exchange goes, so that a failure can be judged.
 * @throws PortcullisError, or the signal's reason.
 */
export async function exchange<Answer>(
  core: Core,
  plan: ExchangePlan,
  progress: ExchangeProgress,
  send: (session: HostSession, options: RequestOptions) => Promise<Answer>,
): Promise<Answer> {
  const { key, server, trail, signal } = plan;
  const connection = core.pool.get(key);
  const release = connection.use();
  try {
    return await run(
      core,
      {
        signal,
        totalMs: server.limits.totalMs,
        mayRepeat: plan.mayRepeat,
        budget: plan.budget,
        limiters: core.guards.limiters(key),
        breaker: core.guards.breaker(key),
        ready: async (readySignal) => void (await connection.ready(readySignal)),
      },
      async (attempt, attemptSignal) => {
        const session = await connection.ready(attemptSignal);
        const startedMs = core.clock.monotonic();
        progress.attempts = attempt;
        if (!progress.wasDispatched) {
          await trail.dispatched();
          progress.wasDispatched = true;
        }
        core.emit({ type: "call.dispatched", at: core.clock.now(), callId: plan.callId, attempt });
        try {
          const answer = await send(session, requestOptions(core, plan, attemptSignal));
          trail.attempt(attempt, { code: null, durationMs: core.clock.monotonic() - startedMs });
          return answer;
        } catch (cause) {
          const error = toPortcullisError(cause);
          trail.attempt(attempt, { code: error.code, durationMs: core.clock.monotonic() - startedMs });
          throw cause;
        }
      },
    );
  } finally {
    release();
  }
}

function requestOptions(core: Core, plan: ExchangePlan, signal: AbortSignal): RequestOptions {
  return {
    signal,
    idleTimeoutMs: plan.idleTimeoutMs,
    totalTimeoutMs: plan.server.limits.totalMs,
    mayHaveEffect: plan.mayHaveEffect,
    onProgress: (progress) => {
      core.emit({
        type: "call.progressed",
        at: core.clock.now(),
        callId: plan.callId,
        progress: progress.progress,
        total: progress.total ?? null,
        message: progress.message ?? null,
      });
      plan.onProgress?.(progress);
    },
    onLate: plan.onLate,
  };
}

/** The reason of a cancelled call as an error of ours. */
export function asCancelled(cause: unknown, signal: AbortSignal): PortcullisError {
  if (cause instanceof PortcullisError) return cause;
  return signal.aborted
    ? new PortcullisError("cancelled", "the caller gave up", { cause })
    : toPortcullisError(cause);
}
