/**
 * The edge where the library's and a server's OAuth errors become ours. By code and status alone: no text of a response gets
 * into a message, and no original error into `cause`, because the library's errors hold whole responses, tokens included.
 */
import * as oauth from "oauth4webapi";
import { PortcullisError } from "../errors.ts";

/** Why a request to an authorization server brought nothing. */
export interface Refusal {
  /** An OAuth error code, for example `invalid_grant`; `null` where the answer was no OAuth error. */
  readonly error: string | null;
  /** HTTP status; `null` where there was no answer. */
  readonly status: number | null;
  /** It may work later, unchanged: nothing of what is stored is in doubt. */
  readonly isPassing: boolean;
  /** In words, for a person. */
  readonly reason: string;
}

/** Statuses that speak of the moment and not of the request. */
function isPassingStatus(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** @param status of the last answer, where there was one. */
export function toRefusal(cause: unknown, status: number | null): Refusal {
  if (cause instanceof oauth.ResponseBodyError) {
    const error = /^[a-z_]{1,64}$/.test(cause.error) ? cause.error : "invalid_request";
    return { error, status: cause.status, isPassing: isPassingStatus(cause.status), reason: `\`${error}\`` };
  }
  if (status !== null && status !== 200 && status !== 201) {
    // RFC 6749 §5.2: a 401 of a token endpoint is about the client, whatever its body looks like.
    const error = status === 401 ? "invalid_client" : null;
    return {
      error,
      status,
      isPassing: error === null && (isPassingStatus(status) || status < 400),
      reason: `status ${status}`,
    };
  }
  if (status !== null)
    return { error: null, status, isPassing: false, reason: "an answer that is not OAuth's" };
  const code = cause instanceof PortcullisError ? cause.code : undefined;
  const isPassing = code === "connection_lost" || code === "timed_out";
  return { error: null, status: null, isPassing, reason: `no answer (${code ?? "unknown reason"})` };
}

/** @param what was asked for, for example `the token request`. */
export function fromRefusal(refusal: Refusal, what: string, issuer: string): PortcullisError {
  const { error, status } = refusal;
  return new PortcullisError(
    refusal.isPassing ? "http_error" : "auth_failed",
    `${what} was refused by \`${issuer}\`: ${refusal.reason}`,
    {
      data: {
        provesNoEffect: true,
        wasSent: false,
        ...(error === null ? {} : { oauthError: error }),
        ...(status === null ? {} : { status }),
      },
    },
  );
}
