/**
 * A circuit breaker: after so many failures in a row a connection is left alone for a while, then one probe decides.
 *
 * The state is one tagged value, the transitions are pure, and the times in it are epoch milliseconds of the injected
 * clock because the state is shared between processes through the store. It is cached: no call reads the store.
 */
import { assertNever } from "../base/assert-never.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";

export type BreakerState =
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "open"; readonly failures: number; readonly untilMs: number }
  | { readonly kind: "half-open"; readonly failures: number; readonly probeSinceMs: number };

export type BreakerEvent = "succeeded" | "failed" | "abandoned";

export interface BreakerPlan {
  /** Failures in a row that open it. Default 10. */
  readonly threshold: number;
  /** How long it stays open. Default 5 minutes. */
  readonly openMs: number;
}

export const defaultBreakerPlan: BreakerPlan = { threshold: 10, openMs: 300_000 };

export const closedBreaker: BreakerState = { kind: "closed", failures: 0 };

/** May a call go through now? `probe` takes the one place in half-open. */
function admitCall(
  state: BreakerState,
  nowMs: number,
  plan: BreakerPlan,
): { verdict: "pass" | "probe"; state: BreakerState } | { verdict: "refuse"; retryAtMs: number } {
  switch (state.kind) {
    case "closed":
      return { verdict: "pass", state };
    case "open":
      if (nowMs < state.untilMs) return { verdict: "refuse", retryAtMs: state.untilMs };
      return {
        verdict: "probe",
        state: { kind: "half-open", failures: state.failures, probeSinceMs: nowMs },
      };
    case "half-open":
      // A probe whose process died must not keep the door shut for ever.
      if (nowMs - state.probeSinceMs >= plan.openMs) {
        return { verdict: "probe", state: { ...state, probeSinceMs: nowMs } };
      }
      return { verdict: "refuse", retryAtMs: state.probeSinceMs + plan.openMs };
    default:
      return assertNever(state);
  }
}

/** What an ended call does to the state. `abandoned`: it ended without telling anything about the server. */
export function nextBreaker(
  state: BreakerState,
  event: BreakerEvent,
  wasProbe: boolean,
  nowMs: number,
  plan: BreakerPlan,
): BreakerState {
  // A call that began before the breaker opened says nothing about the probe.
  if (state.kind !== "closed" && !wasProbe) return state;
  switch (event) {
    case "succeeded":
      return state.kind === "closed" && state.failures === 0 ? state : closedBreaker;
    case "failed": {
      const failures = state.failures + 1;
      const opens = state.kind !== "closed" || failures >= plan.threshold;
      return opens ? { kind: "open", failures, untilMs: nowMs + plan.openMs } : { kind: "closed", failures };
    }
    case "abandoned":
      return state.kind === "half-open" ? { kind: "open", failures: state.failures, untilMs: nowMs } : state;
    default:
      return assertNever(event);
  }
}

export interface Breaker {
  readonly state: BreakerState;
  /** Like `enter`, but takes no place: for refusing before anything expensive is started. */
  check(): void;
  /**
   * `end` takes the origin of a failure: of several failures with the same origin one counts.
   * @throws PortcullisError `breaker_open` with `data.retryAtMs`.
   */
  enter(): { end(event: BreakerEvent, origin?: object): void };
  /** A failure without a call: of a start, or of a session that nobody was using. After the time to wait it decides like a probe. */
  fail(origin: object): void;
  /** Takes over a state that another process wrote. */
  adopt(state: BreakerState): void;
  /** Closes it at once: a person asked to reconnect. */
  reset(): void;
}

export interface BreakerOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly plan?: BreakerPlan;
  readonly initial?: BreakerState;
  /** Called when the state changed in kind or failures; the caller persists it. */
  readonly onChange?: (state: BreakerState) => void;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { clock, name, onChange } = options;
  const plan = options.plan ?? defaultBreakerPlan;
  let state: BreakerState = options.initial ?? closedBreaker;
  const counted = new WeakSet();
  const set = (next: BreakerState): void => {
    if (next === state) return;
    state = next;
    onChange?.(state);
  };
  /** Whether a failure of this origin was counted before; from now on it was. */
  const isCounted = (origin: object | undefined): boolean => {
    if (origin === undefined) return false;
    const isKnown = counted.has(origin);
    counted.add(origin);
    return isKnown;
  };
  const admit = () => {
    const admission = admitCall(state, clock.now(), plan);
    if (admission.verdict !== "refuse") return admission;
    const waitS = Math.ceil((admission.retryAtMs - clock.now()) / 1_000);
    throw new PortcullisError(
      "breaker_open",
      `\`${name}\` failed ${state.failures} times in a row and is left alone for another ${waitS} s`,
      { data: { retryAtMs: admission.retryAtMs, failures: state.failures } },
    );
  };
  return {
    get state() {
      return state;
    },
    check() {
      admit();
    },
    enter() {
      const admission = admit();
      set(admission.state);
      const wasProbe = admission.verdict === "probe";
      let hasEnded = false;
      return {
        end(event, origin) {
          if (hasEnded) return;
          hasEnded = true;
          const isKnown = event === "failed" && isCounted(origin) && !wasProbe;
          set(nextBreaker(state, isKnown ? "abandoned" : event, wasProbe, clock.now(), plan));
        },
      };
    },
    fail(origin) {
      if (isCounted(origin)) return;
      const nowMs = clock.now();
      const isDue = state.kind === "open" && nowMs >= state.untilMs;
      set(nextBreaker(state, "failed", isDue, nowMs, plan));
    },
    adopt(next) {
      state = next;
    },
    reset() {
      set(closedBreaker);
    },
  };
}
