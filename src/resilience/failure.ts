/**
 * What a failed attempt means for the breaker and for a retry: by code and data, never by text.
 *
 * The breaker counts what says "this server is not well": transport faults, time-outs, 5xx, starts that failed. It does not
 * count what the server answered on purpose (tool errors, JSON-RPC errors, refused arguments), nor what we refused ourselves.
 */
import { PortcullisError, type ErrorCode } from "../errors.ts";

export interface FailureClass {
  readonly countsForBreaker: boolean;
  /** Whether the same request again could end better; whether it *may* be sent again is the caller's to say. */
  readonly isTransient: boolean;
  /** What the peer asked to wait, milliseconds. */
  readonly retryAfterMs: number;
}

const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  "connection_lost",
  "process_exited",
  "session_lost",
  "http_error",
  "rate_limited",
  "timed_out",
]);

const COUNTED: ReadonlySet<ErrorCode> = new Set([
  "connection_lost",
  "process_exited",
  "spawn_failed",
  "connect_timeout",
  "timed_out",
  "message_too_large",
]);

export function classifyFailure(error: PortcullisError): FailureClass {
  const status = typeof error.data["status"] === "number" ? error.data["status"] : undefined;
  const retryAfter = error.data["retryAfterMs"];
  const isServerFault = error.code === "http_error" && status !== undefined && status >= 500;
  const isRefusedRequest =
    error.code === "http_error" && status !== undefined && status < 500 && status !== 408;
  return {
    countsForBreaker: COUNTED.has(error.code) || isServerFault,
    isTransient: TRANSIENT.has(error.code) && !isRefusedRequest,
    retryAfterMs: typeof retryAfter === "number" && retryAfter > 0 ? retryAfter : 0,
  };
}

/**
 * What a failure comes from, for counting it once: the calls that one dying process takes along all fail by the same original
 * error, and so does its connection. Failures that only look the same have other originals.
 */
export function originOf(error: PortcullisError): PortcullisError {
  let origin = error;
  // Bounded, because a chain of causes could be a ring.
  for (let depth = 0; depth < 16 && origin.cause instanceof PortcullisError; depth += 1)
    origin = origin.cause;
  return origin;
}
