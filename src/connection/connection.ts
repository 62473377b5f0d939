/**
 * The driver of one connection: the only writer of its state. It carries out the effects of `transition` and reports
 * what happened back as events; it decides nothing by itself.
 *
 * Invariants: at most one session at a time; a new one starts only after the one before has ended; a late result of an
 * abandoned start is closed and never used; `close()` resolves when nothing of it is left.
 */
import { abortReason, linkAbort, untilAborted } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { createEmitter } from "../base/emitter.ts";
import { PortcullisError, toPortcullisError, type ErrorCode } from "../errors.ts";
import type { CloseReport } from "../transport/transport.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import {
  idleState,
  isOpen,
  transition,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  type ReconnectPlan,
} from "./state.ts";

/** What an open session must be able to do; the host puts its client and catalog behind it. */
export interface Session {
  /** One question that any living server answers; resolves with the latency in milliseconds. */
  heartbeat(signal: AbortSignal): Promise<number>;
  close(): Promise<CloseReport>;
}

/** What a session tells its connection. */
export interface SessionEvents {
  /** Anything at all came in: the server lives. */
  alive(): void;
  /** The session is over by itself. */
  lost(error: PortcullisError): void;
  /** The server wants (another) authorization: nothing more is sent. */
  unauthorized(error: PortcullisError): void;
}

/** Makes a session ready for calls: transport, handshake, list of tools compared with the pins. */
export type OpenSession<S extends Session> = (signal: AbortSignal, events: SessionEvents) => Promise<S>;

export interface ConnectionOptions<S extends Session> {
  readonly key: ConnectionKey;
  readonly clock: Clock;
  readonly plan: ReconnectPlan;
  readonly open: OpenSession<S>;
  /** For the whole of `open`, milliseconds. */
  readonly connectMs: number;
  /** Ends an unused session after so long; `null`: never. */
  readonly idleStopMs: number | null;
  /** Silence after which a heartbeat is sent, and how long its answer may take. */
  readonly heartbeat: { readonly silenceMs: number; readonly timeoutMs: number };
  /** Health that clears the count of failures. Default 60,000. */
  readonly healthMs?: number;
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
  readonly lastProof: ProofOfLife | null;
  /** How often a session was started anew by itself. */
  readonly restarts: number;
  onChange(listener: (change: StateChange) => void): () => void;
  /**
   * Waits for a session, starting one where none is.
   * @throws PortcullisError `server_unavailable`, `auth_required`, `incompatible`, `server_paused`, … with the reason, as soon
   * as it is clear that none will come by itself; or the signal's reason.
   */
  ready(signal: AbortSignal): Promise<S>;
  /** Marks use: an unused session of a stdio server is ended after `idleStopMs`. The returned function marks its end. */
  use(): () => void;
  /** One question now. @throws PortcullisError where it cannot be asked or is not answered. */
  check(signal: AbortSignal): Promise<ProofOfLife>;
  /** Starts anew now, whatever state it is in. */
  reconnect(reason: string): void;
  pause(): void;
  close(): Promise<CloseReport>;
}

const HEALTH_MS = 60_000;

interface Epoch<S> {
  readonly controller: AbortController;
  session: S | undefined;
  heartbeat: Heartbeat | undefined;
}

export function createConnection<S extends Session>(options: ConnectionOptions<S>): Connection<S> {
  const { key, clock, plan } = options;
  const changes = createEmitter<StateChange>();
  let state: ConnectionState = idleState(clock.now());
  let epoch: Epoch<S> | undefined;
  let ending: Promise<CloseReport> = Promise.resolve({ how: "clean" });
  let retryTimer: Timer | undefined;
  let healthTimer: Timer | undefined;
  let idleTimer: Timer | undefined;
  let inUse = 0;
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

  const stopTimers = (): void => {
    healthTimer?.cancel();
    idleTimer?.cancel();
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
    const mine: Epoch<S> = { controller: new AbortController(), session: undefined, heartbeat: undefined };
    epoch = mine;
    void open(mine);
  };

  const open = async (mine: Epoch<S>): Promise<void> => {
    const { signal } = mine.controller;
    const timer = clock.timer(options.connectMs, () => {
      mine.controller.abort(
        new PortcullisError(
          "connect_timeout",
          `\`${key.server}\` was not ready within ${options.connectMs / 1_000} s`,
        ),
      );
    });
    const isCurrent = (): boolean => epoch === mine;
    try {
      await ending;
      const startedMs = clock.monotonic();
      const session = await options.open(signal, {
        alive: () => {
          if (isCurrent()) sawLife();
        },
        lost: (error) => {
          if (isCurrent()) dispatch(failedBy(error));
        },
        unauthorized: (error) => {
          if (isCurrent()) dispatch({ type: "unauthorized", reason: error.message, code: error.code });
        },
      });
      if (!isCurrent() || signal.aborted) {
        await session.close();
        if (isCurrent()) dispatch(failedBy(toPortcullisError(abortReason(signal))));
        return;
      }
      mine.session = session;
      lastProof = { at: clock.now(), ok: true, latencyMs: clock.monotonic() - startedMs };
      dispatch({ type: "connected" });
    } catch (cause) {
      if (!isCurrent()) return;
      const error = signal.aborted ? abortReason(signal) : cause;
      lastProof = { at: clock.now(), ok: false, latencyMs: 0 };
      dispatch(failedBy(toPortcullisError(error, "server_unavailable")));
    } finally {
      timer.cancel();
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
    watchUse();
    const mine = epoch;
    const session = mine?.session;
    if (mine === undefined || session === undefined || mine.heartbeat !== undefined) return;
    mine.heartbeat = createHeartbeat({
      clock,
      ...options.heartbeat,
      ask: (signal) => session.heartbeat(signal),
      onBeat: (latencyMs) => {
        if (epoch !== mine) return;
        lastProof = { at: clock.now(), ok: true, latencyMs };
        dispatch({ type: "beat" });
      },
      onMiss: (error) => {
        if (epoch !== mine) return;
        lastProof = { at: clock.now(), ok: false, latencyMs: options.heartbeat.timeoutMs };
        dispatch({ type: "missed", reason: error.message, code: error.code });
      },
    });
  };

  const watchUse = (): void => {
    idleTimer?.cancel();
    if (options.idleStopMs === null || inUse > 0) return;
    idleTimer = clock.timer(options.idleStopMs, () => dispatch({ type: "unused" }));
  };

  const sawLife = (): void => {
    epoch?.heartbeat?.sawLife();
    lastProof = { at: clock.now(), ok: true, latencyMs: lastProof?.latencyMs ?? 0 };
    if (state.kind === "degraded") dispatch({ type: "beat" });
  };

  const ready = async (signal: AbortSignal): Promise<S> => {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      const session = epoch?.session;
      if ((state.kind === "ready" || state.kind === "degraded") && session !== undefined) return session;
      if (state.kind === "idle") dispatch({ type: "wanted" });
      await nextChange(signal);
      if (isHopeless(state) || (state.kind === "idle" && state.code !== null)) throw refusal(state, key);
    }
  };

  const nextChange = async (signal: AbortSignal): Promise<void> => {
    if (isHopeless(state)) return;
    let off: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => {
      off = changes.on(() => resolve());
    });
    try {
      await untilAborted(changed, signal);
    } finally {
      off();
    }
  };

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
    get lastProof() {
      return lastProof;
    },
    get restarts() {
      return restarts;
    },
    onChange: (listener) => changes.on(listener),
    ready,
    use() {
      inUse += 1;
      idleTimer?.cancel();
      let isDone = false;
      return () => {
        if (isDone) return;
        isDone = true;
        inUse -= 1;
        if (inUse === 0 && isOpen(state)) watchUse();
      };
    },
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
        const latencyMs = await session.heartbeat(link.signal);
        lastProof = { at: clock.now(), ok: true, latencyMs };
        return lastProof;
      } finally {
        timer.cancel();
        link.unlink();
      }
    },
    reconnect: (reason) => dispatch({ type: "asked", reason }),
    pause: () => dispatch({ type: "paused" }),
    close() {
      closing ??= closed();
      return closing;
    },
  };
}

function failedBy(error: PortcullisError): ConnectionEvent {
  const after = error.data["retryAfterMs"];
  return {
    type: "failed",
    reason: error.message,
    code: error.code,
    retryAfterMs: typeof after === "number" ? after : 0,
  };
}

/** States that are not left without a person. */
function isHopeless(state: ConnectionState): boolean {
  return (
    state.kind === "auth-required" ||
    state.kind === "incompatible" ||
    state.kind === "dead" ||
    state.kind === "closed" ||
    (state.kind === "closing" && (state.then === "closed" || state.code === "server_paused"))
  );
}

const CODE_OF_STATE: Partial<Record<ConnectionState["kind"], ErrorCode>> = {
  "auth-required": "auth_required",
  incompatible: "incompatible",
  closing: "interrupted",
  closed: "interrupted",
};

function refusal(state: ConnectionState, key: ConnectionKey): PortcullisError {
  const code =
    state.code === "server_paused" ? "server_paused" : (CODE_OF_STATE[state.kind] ?? "server_unavailable");
  return new PortcullisError(code, `\`${key.server}\` is ${state.kind}: ${state.reason}`, {
    data: { state: state.kind, wasSent: false, ...(state.code === null ? {} : { because: state.code }) },
  });
}
