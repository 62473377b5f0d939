/**
 * Steps 5 and 6 of a call, shared with reading resources and getting prompts: the second mark, then the exchange itself under
 * the fixed order of resilience. Answers with what the server said; everything else is thrown as a coded error.
 */
import type { LateAnswer } from "../client/correlation.ts";
import type { InputHandler } from "../client/input-handler.ts";
import type { RequestOptions } from "../client/options.ts";
import { rpcCodeOf } from "../client/remote-error.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { Connection } from "../connection/connection.ts";
import { PortcullisError, toPortcullisError, type ErrorCode } from "../errors.ts";
import type { Progress } from "../protocol/types.ts";
import { classifyFailure } from "../resilience/failure.ts";
import type { RetryBudget } from "../resilience/retry.ts";
import { run } from "../resilience/run.ts";
import type { Trail } from "../audit/call-trail.ts";
import type { ConnectionKey, Principal, TraceContext } from "../vocabulary.ts";
import type { CallerInputs } from "./api.ts";
import type { Core } from "./core.ts";
import { afterRequiredUrls } from "./inputs.ts";
import type { HostSession } from "./open-session.ts";
import { provesNoEffect } from "./outcome.ts";

export interface ExchangePlan {
  readonly callId: string;
  readonly principal: Principal;
  /** The exposed name of the tool, or the resource or prompt: what a person is told when the server asks something. */
  readonly name: string;
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
  /** Who answers what the server asks, instead of the host's own. */
  readonly inputs?: CallerInputs;
  /** What the caller told of a trace. */
  readonly trace?: TraceContext;
  /** An answer that came after the call had been given up. */
  readonly onLate: (answer: LateAnswer) => void;
  /** Whether what was decided about is still what would be called; looked at just before anything is sent. @throws PortcullisError. */
  readonly recheck?: () => void;
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
  /** An attempt failed and may have had its effect all the same: what a later one proves says nothing about it. */
  isUncertain?: boolean;
  /** A person was asked for it: its answer is for this one time (utilities/caching#cache-key). */
  wasAsked?: boolean;
}

/**
 * Waiting for a connection takes at most the server's `limits.connect`, holds no place and is not counted as time of the call.
 *
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
  const used = new ConnectionUse(core, key);
  try {
    return await run(
      core,
      {
        signal,
        totalMs: server.limits.totalMs,
        // Nobody is asked the same a second time because the connection broke.
        mayRepeat: () => plan.mayRepeat && progress.wasAsked !== true,
        budget: plan.budget,
        limiters() {
          const isExclusive = core.inputs.isExclusive(server, used.session()?.facts.era);
          const all = core.guards.limiters(key, isExclusive);
          return { all, kept: isExclusive ? all[0] : undefined };
        },
        breaker: core.guards.breaker(key),
        hold: core.guards.hold(key),
        ready(readySignal) {
          refusePaused(core, server.name);
          const connecting = used.ready(readySignal, server.limits.connectMs);
          // A session that was just opened was just listed.
          return connecting ?? core.lists.settle(key, readySignal);
        },
        isReady: () => used.session() !== undefined,
      },
      async (attempt, leftMs, standstill) => {
        const session = used.session();
        if (session === undefined) throw notSent("connection_lost", `\`${server.name}\` was lost`);
        const requireStill = (): void => {
          refusePaused(core, server.name);
          plan.recheck?.();
        };
        requireStill();
        if (!progress.wasDispatched) {
          const marking = trail.dispatched();
          if (marking !== undefined) await marking;
          progress.wasDispatched = true;
          if (marking !== undefined) requireStill();
        }
        progress.attempts = attempt;
        core.lists.used(key);
        const startedMs = core.clock.monotonic();
        const { era, revision } = session.facts;
        if (core.hearsCalls()) {
          core.emit({
            type: "call.dispatched",
            at: core.clock.now(),
            callId: plan.callId,
            attempt,
            transport: server.launch.kind,
            revision,
          });
        }
        const inputs = !core.inputs.mayAnswer
          ? undefined
          : core.inputs.forCall({
              ...plan,
              era,
              standstill: (wait) => {
                progress.wasAsked = true;
                return standstill(wait);
              },
            });
        try {
          const answer = await send(session, requestOptions(core, plan, leftMs, inputs?.handler));
          noteAttempt(core, plan, attempt, startedMs, null);
          core.recoveries.served(key);
          return answer;
        } catch (cause) {
          const error = toPortcullisError(
            await afterRequiredUrls(cause, inputs?.handler, { era, round: 1, signal }),
          );
          if (classifyFailure(error).countsForBreaker && !signal.aborted) used.doubt();
          if (!provesNoEffect(error)) progress.isUncertain = true;
          noteAttempt(core, plan, attempt, startedMs, error);
          throw error;
        } finally {
          inputs?.close();
        }
      },
    );
  } finally {
    used.release();
  }
}

function noteAttempt(
  core: Core,
  { trail, callId }: ExchangePlan,
  attempt: number,
  startedMs: number,
  error: PortcullisError | null,
): void {
  const code = error?.code ?? null;
  const durationMs = core.clock.monotonic() - startedMs;
  trail.attempt(attempt, { code, durationMs });
  if (!core.hearsCalls()) return;
  const rpcCode = rpcCodeOf(error) ?? null;
  core.emit({ type: "call.attempted", at: core.clock.now(), callId, attempt, code, rpcCode, durationMs });
}

/** The connection of `key`, marked as in use: the one that the pool holds now, because a reload may replace it. */
class ConnectionUse {
  readonly #core: Core;
  readonly #key: ConnectionKey;
  #connection: Connection<HostSession> | undefined;
  #release: (() => void) | undefined;

  constructor(core: Core, key: ConnectionKey) {
    this.#core = core;
    this.#key = key;
  }

  /** @throws PortcullisError `server_unavailable` where a reload took the server out. */
  current(): Connection<HostSession> {
    const { server } = this.#key;
    if (!this.#core.config().servers.has(server))
      throw notSent("server_unavailable", `\`${server}\` is not configured any more`);
    const now = this.#core.pool.get(this.#key);
    if (now !== this.#connection) {
      this.release();
      this.#connection = now;
      this.#release = now.use();
    }
    return now;
  }

  /**
   * Waits for a session, also where a reload replaces the connection meanwhile. `undefined` where there is one.
   * @throws PortcullisError as `current` and `Connection.ready`.
   */
  ready(signal: AbortSignal, withinMs: number): Promise<void> | undefined {
    const connection = this.current();
    if (connection.session !== undefined) return undefined;
    return connection.ready(signal, withinMs).then(
      () => undefined,
      (error: unknown) => {
        if (signal.aborted || this.#isCurrent()) throw error;
        return this.ready(signal, withinMs);
      },
    );
  }

  /** That of the connection, unless it was replaced: what was not sent yet goes to the new one. */
  session(): HostSession | undefined {
    return this.#isCurrent() ? this.#connection?.session : undefined;
  }

  #isCurrent(): boolean {
    return this.#core.pool.find(this.#key) === this.#connection;
  }

  doubt(): void {
    this.#connection?.doubt();
  }

  release(): void {
    this.#release?.();
  }
}

/** The kill switch, also for what was decided before it was thrown. */
function refusePaused(core: Core, server: string): void {
  if (core.pauses.isPaused(server)) throw notSent("server_paused", `\`${server}\` is paused`);
}

function notSent(code: ErrorCode, message: string): PortcullisError {
  return new PortcullisError(code, message, { data: { wasSent: false } });
}

function requestOptions(
  core: Core,
  plan: ExchangePlan,
  leftMs: number,
  inputs: InputHandler | undefined,
): RequestOptions {
  const trace = traceFor(core, plan);
  return {
    signal: plan.signal,
    ...(inputs === undefined ? {} : { inputs }),
    ...(trace === undefined ? {} : { trace }),
    idleTimeoutMs: plan.idleTimeoutMs,
    totalTimeoutMs: plan.server.limits.totalMs,
    totalLeftMs: leftMs,
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

/** Whoever keeps traces says which one it is; what the caller wants carried with it stays. */
function traceFor(core: Core, { callId, trace }: ExchangePlan): TraceContext | undefined {
  const kept = core.traceOf(callId);
  if (kept === undefined) return trace;
  return trace?.baggage === undefined ? kept : { ...kept, baggage: trace.baggage };
}

/** The reason of a cancelled call as an error of ours. */
export function asCancelled(cause: unknown, signal: AbortSignal): PortcullisError {
  if (cause instanceof PortcullisError) return cause;
  return signal.aborted
    ? new PortcullisError("cancelled", "the caller gave up", { cause })
    : toPortcullisError(cause);
}
