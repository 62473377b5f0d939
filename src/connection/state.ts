/**
 * The life of one connection (server × credential) as one tagged value, and a pure transition. The driver
 * (`connection.ts`) is the only writer; it carries the effects out and reports back by events.
 *
 * Rules:
 * - A lost or failed connection is made again after 1, 2, 4 s (stdio, at most 3 times) or 1, 2, 4, 8 s (HTTP, at most 4).
 * - The count of failures clears only after 60 s of health, never by a mere handshake; each process started for nothing counts.
 * - What only a person can mend (a missing program, a secret, a blocked entry) is `dead` at once.
 * - Where our own state could not be written the server has failed at nothing: `idle`, and the next call tries again.
 * - stdio: then `dead` until a person asks. HTTP: then `idle`; the next call tries once more, and the breaker says how often.
 * - `auth-required`, `incompatible` and `dead` are left only by asking (`reconnect`, a login, a changed entry).
 */
import { assertNever } from "../base/assert-never.ts";
import type { ErrorCode } from "../errors.ts";

/** Why a state was entered, in words for a person, and the code where there is one. */
export interface Cause {
  readonly reason: string;
  readonly code: ErrorCode | null;
  /** The last lines of the server's own talk (stderr), cleaned and without secrets: for people only. */
  readonly lastWords?: string;
}

export interface Failure extends Cause {
  /** What the peer asked to wait. */
  readonly retryAfterMs: number;
  /** How many processes were started for nothing: each counts. */
  readonly starts: number;
  /** Nothing but a change by a person mends it. */
  readonly isFinal: boolean;
}

interface Common extends Cause {
  /** Epoch milliseconds. */
  readonly sinceMs: number;
  /** Failures since the last 60 s of health. */
  readonly failures: number;
}

export type ConnectionState =
  | (Common & { readonly kind: "idle" })
  | (Common & { readonly kind: "connecting" })
  | (Common & { readonly kind: "ready" })
  | (Common & { readonly kind: "degraded"; readonly misses: number })
  | (Common & { readonly kind: "backing-off"; readonly untilMs: number })
  | (Common & { readonly kind: "auth-required" })
  | (Common & { readonly kind: "incompatible" })
  | (Common & { readonly kind: "dead" })
  | (Common & { readonly kind: "closing"; readonly then: "idle" | "connecting" | "closed" })
  | (Common & { readonly kind: "closed" });

export type ConnectionStateKind = ConnectionState["kind"];

export type ConnectionEvent =
  /** A call or a question about health needs it. */
  | { readonly type: "wanted" }
  /** A person asked, a login succeeded, or the entry changed. */
  | { readonly type: "asked"; readonly reason: string }
  /** `starts`: how many processes it took. */
  | { readonly type: "connected"; readonly starts: number }
  | ({ readonly type: "failed" } & Failure)
  | { readonly type: "beat" }
  /** `isBusy`: calls are running, whose own limits say how long they may take. */
  | ({ readonly type: "missed"; readonly isBusy: boolean } & Cause)
  | ({ readonly type: "unauthorized" } & Cause)
  | { readonly type: "waited" }
  | { readonly type: "proved-healthy" }
  | { readonly type: "unused" }
  | { readonly type: "paused" }
  | { readonly type: "resumed" }
  | { readonly type: "close" }
  | { readonly type: "ended" };

export type ConnectionEffect =
  | { readonly type: "start" }
  /** Ends transport and child; the driver answers with `ended`. */
  | { readonly type: "end" }
  | { readonly type: "wait"; readonly delayMs: number }
  | { readonly type: "stop-waiting" }
  | { readonly type: "watch-health" }
  /** Those who wait for `ready` look at the new state: it will not come by itself. */
  | { readonly type: "refuse-waiters" };

export interface ReconnectPlan {
  /** 3 for stdio, 4 for HTTP. */
  readonly maxRestarts: number;
  /** The wait before restart number n, from 1, milliseconds; jitter included. */
  readonly delayMs: (restart: number, retryAfterMs: number) => number;
  /** What follows when the restarts are used up. */
  readonly whenExhausted: "dead" | "idle";
}

/** Beats missed in a row that make it dead to us: the connection is made again. */
const MISSES_UNTIL_LOST = 3;

export interface Transition {
  readonly state: ConnectionState;
  readonly effects: readonly ConnectionEffect[];
}

/** The state of a connection nobody has used yet. */
export function idleState(nowMs: number, reason = "not used yet"): ConnectionState {
  return { kind: "idle", sinceMs: nowMs, reason, code: null, failures: 0 };
}

/** What `event` does to `state`. Total: an event that means nothing in a state leaves it as it is. */
export function transition(
  state: ConnectionState,
  event: ConnectionEvent,
  plan: ReconnectPlan,
  nowMs: number,
): Transition {
  const stay: Transition = { state, effects: [] };
  const at = { sinceMs: nowMs, failures: state.failures };
  if (state.kind === "closed") return stay;

  switch (event.type) {
    case "wanted":
      if (state.kind !== "idle") return stay;
      return start(state, nowMs, "a call needs it");
    case "asked":
      return ask(state, event.reason, nowMs);
    case "connected":
      if (state.kind !== "connecting") return stay;
      return {
        state: {
          kind: "ready",
          ...at,
          failures: Math.min(state.failures + Math.max(0, event.starts - 1), plan.maxRestarts),
          reason: "connected",
          code: null,
        },
        effects: [{ type: "watch-health" }],
      };
    case "failed":
      return fail(state, event, plan, nowMs);
    case "beat":
      if (state.kind !== "degraded") return stay;
      return {
        state: { kind: "ready", ...at, reason: "answers again", code: null },
        effects: [{ type: "watch-health" }],
      };
    case "missed": {
      if (state.kind !== "ready" && state.kind !== "degraded") return stay;
      const misses = state.kind === "degraded" ? state.misses + 1 : 1;
      if (misses >= MISSES_UNTIL_LOST && !event.isBusy) {
        const reason = `no sign of life ${misses} times: ${event.reason}`;
        return fail(state, { ...event, reason, retryAfterMs: 0, starts: 1, isFinal: false }, plan, nowMs);
      }
      const sinceMs = state.kind === "degraded" ? state.sinceMs : nowMs;
      return {
        state: { kind: "degraded", ...at, sinceMs, misses, reason: event.reason, code: event.code },
        effects: [],
      };
    }
    case "unauthorized":
      if (!isOpen(state)) return stay;
      return {
        state: { kind: "auth-required", ...at, reason: event.reason, code: event.code },
        effects: [{ type: "end" }, { type: "refuse-waiters" }],
      };
    case "waited":
      if (state.kind !== "backing-off") return stay;
      return start(state, nowMs, `trying again after: ${state.reason}`);
    case "proved-healthy":
      if (state.kind !== "ready") return stay;
      return { state: { ...state, failures: 0 }, effects: [] };
    case "unused":
      if (state.kind !== "ready" && state.kind !== "degraded") return stay;
      return {
        state: { kind: "closing", ...at, then: "idle", reason: "not used for a while", code: null },
        effects: [{ type: "end" }],
      };
    case "paused":
      if (state.kind === "idle" || (state.kind === "closing" && state.then === "closed")) return stay;
      // What ends already must not come back by itself either, whatever it was ended for.
      if (state.kind === "closing")
        return {
          state: { ...state, then: "idle", reason: "paused", code: "server_paused" },
          effects: [{ type: "refuse-waiters" }],
        };
      return {
        state: { kind: "closing", ...at, then: "idle", reason: "paused", code: "server_paused" },
        effects: [{ type: "stop-waiting" }, { type: "end" }, { type: "refuse-waiters" }],
      };
    case "resumed":
      if (state.code !== "server_paused" || (state.kind !== "idle" && state.kind !== "closing")) return stay;
      return { state: { ...state, sinceMs: nowMs, reason: "resumed", code: null }, effects: [] };
    case "close":
      if (state.kind === "closing")
        return { state: { ...state, then: "closed" }, effects: [{ type: "refuse-waiters" }] };
      return {
        state: { kind: "closing", ...at, then: "closed", reason: "shut down", code: null },
        effects: [{ type: "stop-waiting" }, { type: "end" }, { type: "refuse-waiters" }],
      };
    case "ended":
      return ended(state, nowMs);
    default:
      return assertNever(event);
  }
}

/** True where a transport may be up. */
export function isOpen(state: ConnectionState): boolean {
  return state.kind === "connecting" || state.kind === "ready" || state.kind === "degraded";
}

function start(state: ConnectionState, nowMs: number, reason: string): Transition {
  return {
    state: { kind: "connecting", sinceMs: nowMs, failures: state.failures, reason, code: null },
    effects: [{ type: "start" }],
  };
}

function ask(state: ConnectionState, reason: string, nowMs: number): Transition {
  // Asking forgets what went wrong before: a person has looked at it.
  const fresh: ConnectionState = { ...state, failures: 0 };
  switch (state.kind) {
    case "ready":
    case "degraded":
    case "connecting":
      return {
        state: { kind: "closing", sinceMs: nowMs, failures: 0, then: "connecting", reason, code: null },
        effects: [{ type: "end" }],
      };
    case "backing-off": {
      const started = start(fresh, nowMs, reason);
      return { state: started.state, effects: [{ type: "stop-waiting" }, ...started.effects] };
    }
    case "idle":
    case "auth-required":
    case "incompatible":
    case "dead":
      return start(fresh, nowMs, reason);
    case "closing":
      return {
        state: state.then === "closed" ? state : { ...state, then: "connecting", failures: 0 },
        effects: [],
      };
    case "closed":
      return { state, effects: [] };
    default:
      return assertNever(state);
  }
}

function fail(state: ConnectionState, event: Failure, plan: ReconnectPlan, nowMs: number): Transition {
  if (!isOpen(state)) return { state, effects: [] };
  const { reason, code, lastWords } = event;
  const cause: Cause = { reason, code, ...(lastWords === undefined ? {} : { lastWords }) };
  const failures = Math.min(state.failures + event.starts, plan.maxRestarts);
  const at = { sinceMs: nowMs, failures, ...cause };
  const effects: ConnectionEffect[] = [{ type: "end" }, { type: "refuse-waiters" }];
  if (code === "incompatible") return { state: { kind: "incompatible", ...at }, effects };
  if (code === "auth_required" || code === "auth_failed")
    return { state: { kind: "auth-required", ...at }, effects };
  if (code === "state_unusable") return { state: { kind: "idle", ...at, failures: state.failures }, effects };
  if (event.isFinal) return { state: { kind: "dead", ...at }, effects };
  if (state.failures + event.starts > plan.maxRestarts) {
    const gaveUp = `gave up after ${state.failures + event.starts} failures: ${reason}`;
    return { state: { kind: plan.whenExhausted, ...at, reason: gaveUp }, effects };
  }
  const delayMs = plan.delayMs(failures, event.retryAfterMs);
  return {
    state: { kind: "backing-off", ...at, untilMs: nowMs + delayMs },
    effects: [{ type: "end" }, { type: "wait", delayMs }],
  };
}

function ended(state: ConnectionState, nowMs: number): Transition {
  if (state.kind !== "closing") return { state, effects: [] };
  switch (state.then) {
    case "idle":
      return {
        state: {
          kind: "idle",
          sinceMs: nowMs,
          failures: state.failures,
          reason: state.reason,
          code: state.code,
        },
        effects: [],
      };
    case "connecting":
      return start(state, nowMs, state.reason);
    case "closed":
      return {
        state: { kind: "closed", sinceMs: nowMs, failures: state.failures, reason: state.reason, code: null },
        effects: [],
      };
    default:
      return assertNever(state.then);
  }
}

/** What happens next, for `status`: one sentence. */
export function nextStep(state: ConnectionState, nowMs: number): string {
  switch (state.kind) {
    case "idle":
      return "starts with the next call";
    case "connecting":
      return "gets ready";
    case "ready":
      return "takes calls";
    case "degraded": {
      const left = Math.max(1, MISSES_UNTIL_LOST - state.misses);
      return `is connected anew after ${left === 1 ? "one more miss" : `${left} more misses`}`;
    }
    case "backing-off":
      return `tries again in ${Math.max(0, Math.ceil((state.untilMs - nowMs) / 1_000))} s`;
    case "auth-required":
      return "waits for `portcullis login`";
    case "incompatible":
      return "needs an upgrade, then `portcullis reconnect`";
    case "dead":
      return "waits for `portcullis reconnect`";
    case "closing":
      return "ends";
    case "closed":
      return "stays closed";
    default:
      return assertNever(state);
  }
}
