/**
 * When an event stream of the legacy era is opened again: pure. The optional server stream backs off and gives up; a
 * broken response stream is resumed after the time that the server named. What counts as progress is a real message,
 * never headers, comments or priming events: otherwise a server that closes at once is asked for ever.
 */

export type StreamEnd =
  /** Answered with something that is no event stream. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs?: number }
  /** Was open and ended, well or not. */
  | {
      readonly kind: "ended";
      readonly messages: number;
      readonly openForMs: number;
      readonly retryMs?: number;
    }
  /** Could not be opened. */
  | { readonly kind: "unreachable" };

export type Reconnect =
  | { readonly kind: "never" }
  /** `failures`: what to pass on the next time. */
  | { readonly kind: "wait"; readonly delayMs: number; readonly failures: number };

/** HTTP reconnect: 1, 2, 4, 8 s, at most 4. */
const MAX_RECONNECTS = 4;
const FIRST_DELAY_MS = 1000;
/** No delay that a server names is obeyed beyond this. */
const MAX_DELAY_MS = 60_000;
/** A stream that was open this long ended by itself, not by a storm, although no message came. */
const HEALTHY_MS = 60_000;
const DEFAULT_RETRY_MS = 1000;

const NEVER: Reconnect = { kind: "never" };

/**
 * What to do after the optional server stream (GET) ended.
 *
 * @param failures reconnects in a row that brought no message.
 * @param jitter 0 to 1; a quarter of the delay at most is added.
 */
export function nextReconnect(end: StreamEnd, failures: number, jitter: number): Reconnect {
  const isTransient = end.kind !== "refused" || end.status === 429 || end.status >= 500;
  if (!isTransient || (end.kind === "refused" && end.status === 501)) return NEVER;
  const hasLived = end.kind === "ended" && (end.messages > 0 || end.openForMs >= HEALTHY_MS);
  const failed = hasLived ? 0 : failures;
  if (failed >= MAX_RECONNECTS) return NEVER;
  const backoffMs = FIRST_DELAY_MS * 2 ** failed;
  const askedMs =
    (end.kind === "ended" ? end.retryMs : end.kind === "refused" ? end.retryAfterMs : undefined) ?? 0;
  const delayMs = Math.min(Math.max(backoffMs, askedMs), MAX_DELAY_MS);
  return { kind: "wait", delayMs: Math.round(delayMs * (1 + jitter / 4)), failures: failed + 1 };
}

/**
 * What to do after the response stream of a request ended without its response though it had named an event id:
 * the server's `retry` is kept to exactly (2025-11-25 transports, "sending messages": the client MUST respect it).
 */
export function nextResume(end: StreamEnd, failures: number): Reconnect {
  if (end.kind === "refused" && end.status !== 429 && end.status < 500) return NEVER;
  const failed = end.kind === "ended" && end.messages > 0 ? 0 : failures;
  if (failed >= MAX_RECONNECTS) return NEVER;
  const askedMs = end.kind === "ended" ? end.retryMs : end.kind === "refused" ? end.retryAfterMs : undefined;
  return { kind: "wait", delayMs: Math.min(askedMs ?? DEFAULT_RETRY_MS, MAX_DELAY_MS), failures: failed + 1 };
}
