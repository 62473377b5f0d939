/**
 * The driver of one connection: the only writer of its state. It carries out the effects of `transition` and reports
 * what happened back as events; it decides nothing by itself.
 *
 * Invariants: at most one session at a time; a new one starts only after the one before has ended; a late result of an
 * abandoned start is closed and never used; `close()` resolves when nothing of it is left.
 */
import { abortReason, linkAbort } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { createEmitter } from "../base/emitter.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { CloseReport } from "../transport/transport.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import { failedBy } from "./failure.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import type { OpenSession, Session } from "./session.ts";
import {
  idleState,
  isOpen,
  transition,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  type ReconnectPlan,
} from "./state.ts";
import { createStartTurns, type Admit } from "./start-turns.ts";
import { createUse, type UseKind } from "./use.ts";
import { waitForSession } from "./waiting.ts";

export interface ConnectionOptions<S extends Session> {
  readonly key: ConnectionKey;
  readonly clock: Clock;
  readonly plan: ReconnectPlan;
  readonly open: OpenSession<S>;
  /** What must be over before the first start. */
  readonly after?: Promise<unknown>;
  /** Waits for the turn of a start. Default: at once. */
  readonly admit?: Admit;
  /** For the whole of `open` but its waits for a turn, milliseconds. Asked at every start. */
  readonly connectMs: () => number;
  /** Ends an unused session after so long; `null`: never. Asked whenever it falls out of use. */
  readonly idleStopMs: () => number | null;
  /** Silence after which a heartbeat is sent, and how long its answer may take. */
  readonly heartbeat: { readonly silenceMs: number; readonly timeoutMs: number };
  /** Health that clears the count of failures. Default 60,000. */
  readonly healthMs?: number;
  /** A start failed, or a session was lost: once for each. */
  readonly onFailure?: (error: PortcullisError) => void;
  /** A new proof of life, or of its absence. Not told for every message that comes in. */
  readonly onProof?: (proof: ProofOfLife) => void;
}

export interface StateChange {
  readonly key: ConnectionKey;
  readonly from: ConnectionState;
  readonly to: ConnectionState;
}

export interface ProofOfLife {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly ok: boolean;
  readonly latencyMs: number;
}

export interface Connection<S extends Session> {
  readonly key: ConnectionKey;
  readonly state: ConnectionState;
  /** The session, where calls can be sent now. */
  readonly session: S | undefined;
  readonly lastProof: ProofOfLife | null;
  /** How often a session was started anew by itself. */
  readonly restarts: number;
  onChange(listener: (change: StateChange) => void): () => void;
  /**
   * Waits for a session, starting one where none is.
   * @param withinMs how long it is waited for; absent: until it is clear that none will come by itself.
   * @throws PortcullisError see `waiting.ts`.
   */
  ready(signal: AbortSignal, withinMs?: number): Promise<S>;
  /** Marks use: an unused session is ended after `idleStopMs`. The returned function marks its end. Default: a call. */
  use(kind?: UseKind): () => void;
  /** Resolves when no call runs over it. */
  unused(): Promise<void>;
  /** One question now. @throws PortcullisError where it cannot be asked or is not answered. */
  check(signal: AbortSignal): Promise<ProofOfLife>;
  /** A call failed in a way that makes its life doubtful: it is asked now. */
  doubt(): void;
  /** Starts anew now, whatever state it is in. */
  reconnect(reason: string): void;
  pause(): void;
  resume(): void;
  close(): Promise<CloseReport>;
}

const HEALTH_MS = 60_000;

/** One start and what came of it. */
interface Epoch<S> {
  readonly controller: AbortController;
  /** Resolves when the start is over and, where it failed, nothing of it is left. */
  opening: Promise<void>;
  session: S | undefined;
  heartbeat: Heartbeat | undefined;
}

export function createConnection<S extends Session>(options: ConnectionOptions<S>): Connection<S> {
  const { key, clock, plan } = options;
  const changes = createEmitter<StateChange>();
  let state: ConnectionState = idleState(clock.now());
  let epoch: Epoch<S> | undefined;
  let ending: Promise<CloseReport> = (options.after ?? Promise.resolve()).then(() => ({ how: "clean" }));
  let retryTimer: Timer | undefined;
  let healthTimer: Timer | undefined;
  let restarts = 0;
  let lastProof: ProofOfLife | null = null;

  const dispatch = (event: ConnectionEvent): void => {
    const from = state;
    const step = transition(state, event, plan, clock.now());
    if (step.state === from) return;
    state = step.state;
    for (const effect of step.effects) carryOut(effect, from);
    if (!isOpen(state)) stopTimers();
    changes.emit({ key, from, to: state });
  };

  const use = createUse({
    clock,
    idleMs: options.idleStopMs,
    onIdle: () => dispatch({ type: "unused" }),
  });

  const stopTimers = (): void => {
    healthTimer?.cancel();
    use.stop();
  };

  const carryOut = (effect: ConnectionEffect, from: ConnectionState): void => {
    switch (effect.type) {
      case "start":
        if (from.kind === "backing-off") restarts += 1;
        start();
        return;
      case "end":
        end();
        return;
      case "wait":
        retryTimer = clock.timer(effect.delayMs, () => dispatch({ type: "waited" }));
        return;
      case "stop-waiting":
        retryTimer?.cancel();
        return;
      case "watch-health":
        watchHealth();
        return;
      case "refuse-waiters":
        // Those who wait look at the new state themselves: see `ready`.
        return;
      default:
        assertNever(effect);
    }
  };

  const start = (): void => {
    const mine: Epoch<S> = {
      controller: new AbortController(),
      opening: Promise.resolve(),
      session: undefined,
      heartbeat: undefined,
    };
    epoch = mine;
    mine.opening = open(mine);
  };

  const prove = (ok: boolean, latencyMs: number): ProofOfLife => {
    const proof = { at: clock.now(), ok, latencyMs };
    lastProof = proof;
    options.onProof?.(proof);
    return proof;
  };

  const fail = (error: PortcullisError, starts: number): void => {
    prove(false, 0);
    options.onFailure?.(error);
    dispatch(failedBy(error, starts));
  };

  const open = async (mine: Epoch<S>): Promise<void> => {
    const { signal } = mine.controller;
    const isCurrent = (): boolean => epoch === mine;
    const turns = createStartTurns({
      clock,
      signal,
      admit: options.admit,
      failures: state.failures,
      most: plan.maxRestarts + 1 - state.failures,
      limitMs: options.connectMs,
      onLimit: (limitMs) => {
        const message = `\`${key.server}\` was not ready within ${limitMs / 1_000} s`;
        mine.controller.abort(new PortcullisError("connect_timeout", message));
      },
    });
    try {
      await ending;
      await turns.next();
      const startedMs = clock.monotonic();
      let isFirst = true;
      const session = await options.open(signal, {
        mayStart: async () => {
          if (!isFirst) return turns.next();
          isFirst = false;
          return true;
        },
        alive: () => {
          if (isCurrent()) sawLife();
        },
        lost: (error) => {
          if (isCurrent()) fail(error, 1);
        },
        unauthorized: (error) => {
          if (isCurrent()) dispatch({ type: "unauthorized", reason: error.message, code: error.code });
        },
      });
      if (!isCurrent() || signal.aborted) {
        await session.close();
        if (isCurrent()) fail(toPortcullisError(abortReason(signal)), turns.count);
        return;
      }
      mine.session = session;
      prove(true, clock.monotonic() - startedMs);
      dispatch({ type: "connected", starts: turns.count });
    } catch (cause) {
      if (!isCurrent()) return;
      const error = toPortcullisError(signal.aborted ? abortReason(signal) : cause, "server_unavailable");
      fail(error, turns.count);
    } finally {
      turns.end();
    }
  };

  const end = (): void => {
    const mine = epoch;
    epoch = undefined;
    mine?.heartbeat?.stop();
    mine?.controller.abort(new PortcullisError("interrupted", `the connection to \`${key.server}\` ends`));
    const before = ending;
    ending = (async () => {
      const earlier = await before;
      await mine?.opening;
      if (mine?.session === undefined) return earlier;
      try {
        return await mine.session.close();
      } catch (error) {
        return { how: "remains", detail: toPortcullisError(error).message } as const;
      }
    })();
    void ending.then(() => dispatch({ type: "ended" }));
  };

  const watchHealth = (): void => {
    healthTimer?.cancel();
    healthTimer = clock.timer(options.healthMs ?? HEALTH_MS, () => dispatch({ type: "proved-healthy" }));
    use.watch();
    const mine = epoch;
    const session = mine?.session;
    if (mine === undefined || session === undefined || mine.heartbeat !== undefined) return;
    mine.heartbeat = createHeartbeat({
      clock,
      ...options.heartbeat,
      ask: (signal) => session.heartbeat(signal),
      onBeat: (latencyMs) => {
        if (epoch !== mine) return;
        prove(true, latencyMs);
        dispatch({ type: "beat" });
      },
      onMiss: (error) => {
        if (epoch !== mine) return;
        prove(false, options.heartbeat.timeoutMs);
        dispatch({ type: "missed", reason: error.message, code: error.code, isBusy: use.calls > 0 });
        if (!isOpen(state)) options.onFailure?.(error);
      },
    });
  };

  const sawLife = (): void => {
    epoch?.heartbeat?.sawLife();
    lastProof = { at: clock.now(), ok: true, latencyMs: lastProof?.latencyMs ?? 0 };
    if (state.kind === "degraded") dispatch({ type: "beat" });
  };

  const usable = (): S | undefined =>
    state.kind === "ready" || state.kind === "degraded" ? epoch?.session : undefined;

  const ready = (signal: AbortSignal, withinMs?: number): Promise<S> =>
    waitForSession({
      key,
      clock,
      state: () => state,
      session: usable,
      want: () => dispatch({ type: "wanted" }),
      onChange: (listener) => changes.on(listener),
      signal,
      withinMs,
    });

  const closed = async (): Promise<CloseReport> => {
    dispatch({ type: "close" });
    retryTimer?.cancel();
    stopTimers();
    return ending;
  };
  let closing: Promise<CloseReport> | undefined;

  return {
    key,
    get state() {
      return state;
    },
    get session() {
      return usable();
    },
    get lastProof() {
      return lastProof;
    },
    get restarts() {
      return restarts;
    },
    onChange: (listener) => changes.on(listener),
    ready,
    use: use.begin,
    unused: use.over,
    async check(signal) {
      const session = await ready(signal);
      const link = linkAbort(signal);
      const timer = clock.timer(options.heartbeat.timeoutMs, () => {
        link.abort(
          new PortcullisError(
            "timed_out",
            `\`${key.server}\` did not answer within ${options.heartbeat.timeoutMs / 1_000} s`,
          ),
        );
      });
      try {
        return prove(true, await session.heartbeat(link.signal));
      } finally {
        timer.cancel();
        link.unlink();
      }
    },
    doubt() {
      if (state.kind === "ready") epoch?.heartbeat?.doubt();
    },
    reconnect: (reason) => dispatch({ type: "asked", reason }),
    pause: () => dispatch({ type: "paused" }),
    resume: () => dispatch({ type: "resumed" }),
    close() {
      closing ??= closed();
      return closing;
    },
  };
}
