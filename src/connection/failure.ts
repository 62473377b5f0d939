/** The edge where the failure of a session becomes an event of its connection: by code and data, never by text. */
import type { ErrorCode, PortcullisError } from "../errors.ts";
import { originOf } from "../resilience/failure.ts";
import type { ConnectionEvent } from "./state.ts";

/** Nothing but a change by a person mends these: starting again would fail the same way. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  "server_blocked",
  "secret_unresolved",
  "config_invalid",
  "egress_denied",
  "spawn_failed",
]);
/** A machine short of something may have it again a moment later. */
const PASSING_ERRNO: ReadonlySet<unknown> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"]);

const LAST_LINES = 5;
const LAST_CHARACTERS = 600;

/**
 * What the failure of a start or the loss of a session does to the state.
 *
 * @param starts how many processes were started for nothing.
 */
export function failedBy(
  error: PortcullisError,
  starts: number,
): Extract<ConnectionEvent, { readonly type: "failed" }> {
  const { retryAfterMs, errno } = error.data;
  const lastWords = lastWordsOf(error);
  return {
    type: "failed",
    reason: error.message,
    code: error.code,
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : 0,
    starts: Math.max(1, starts),
    isFinal: FINAL.has(error.code) && !PASSING_ERRNO.has(errno),
    ...(lastWords === undefined ? {} : { lastWords }),
  };
}

/** What the server said last on stderr before it was lost, cleaned: at most 5 lines and 600 characters; `undefined` where nothing. */
export function lastWordsOf(error: PortcullisError): string | undefined {
  const text = [error.data, originOf(error).data]
    .flatMap(({ lastWords, stderrTail }) => [lastWords, stderrTail])
    .find((words) => typeof words === "string");
  const cut = (text ?? "").trim().split("\n").slice(-LAST_LINES).join("\n").slice(-LAST_CHARACTERS);
  return cut === "" ? undefined : cut;
}
