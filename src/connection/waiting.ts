/** Waiting for a session: until one is there, until none will come by itself, or until the patience is over. */
import { abortReason, linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError, type ErrorCode } from "../errors.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import type { ConnectionState } from "./state.ts";

export interface WaitOptions<S> {
  readonly key: ConnectionKey;
  readonly clock: Clock;
  readonly state: () => ConnectionState;
  /** The session, where one is ready for calls. */
  readonly session: () => S | undefined;
  /** Starts one where there is none. */
  readonly want: () => void;
  readonly onChange: (listener: () => void) => () => void;
  readonly signal: AbortSignal;
  /** Milliseconds; absent: as long as it takes. */
  readonly withinMs?: number | undefined;
}

/**
 * @throws PortcullisError with `data.wasSent = false`: `auth_required`, `incompatible`, `server_paused`, `state_unusable`, `interrupted`, or
 * `server_unavailable` with the reason; `server_unavailable` as well where the patience is over; or the signal's reason.
 */
export async function waitForSession<S>(options: WaitOptions<S>): Promise<S> {
  const { clock, key, state, withinMs } = options;
  const known = options.session();
  if (known !== undefined) return known;
  const link = linkAbort(options.signal);
  const timer =
    withinMs === undefined
      ? undefined
      : clock.timer(withinMs, () => link.abort(impatience(state(), key, withinMs)));
  try {
    return await waitOn(options, link.signal);
  } finally {
    timer?.cancel();
    link.unlink();
  }
}

async function waitOn<S>(options: WaitOptions<S>, signal: AbortSignal): Promise<S> {
  for (;;) {
    if (signal.aborted) throw abortReason(signal);
    const session = options.session();
    if (session !== undefined) return session;
    if (options.state().kind === "idle") options.want();
    await nextChange(options, signal);
    const state = options.state();
    if (isHopeless(state) || (state.kind === "idle" && state.code !== null))
      throw refusal(state, options.key);
  }
}

async function nextChange<S>({ onChange, state }: WaitOptions<S>, signal: AbortSignal): Promise<void> {
  if (isHopeless(state())) return;
  let off: () => void = () => undefined;
  const changed = new Promise<void>((resolve) => {
    off = onChange(resolve);
  });
  try {
    await untilAborted(changed, signal);
  } finally {
    off();
  }
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
  const isSaid = state.code === "server_paused" || state.code === "state_unusable";
  const code = isSaid ? state.code : (CODE_OF_STATE[state.kind] ?? "server_unavailable");
  const what = code === "state_unusable" ? "was not started" : `is ${state.kind}`;
  return new PortcullisError(code, `\`${key.server}\` ${what}: ${state.reason}`, {
    data: because(state),
  });
}

function impatience(state: ConnectionState, key: ConnectionKey, withinMs: number): PortcullisError {
  const message = `\`${key.server}\` was not ready within ${withinMs / 1_000} s: it is ${state.kind} (${state.reason})`;
  return new PortcullisError("server_unavailable", message, { data: because(state) });
}

function because(state: ConnectionState): Readonly<Record<string, unknown>> {
  return {
    state: state.kind,
    wasSent: false,
    ...(state.code === null ? {} : { because: state.code }),
    ...(state.kind === "backing-off" ? { retryAtMs: state.untilMs } : {}),
    ...(state.lastWords === undefined ? {} : { lastWords: state.lastWords }),
  };
}
