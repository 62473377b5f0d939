/**
 * The edge where errors of sockets, TLS, the HTTP parser and zlib become ours, once. Decides by their codes alone.
 */
import type { ErrorCode } from "../errors.ts";
import { PortcullisError } from "../errors.ts";

export interface NetErrorContext {
  /** The origin that was asked, for the message. */
  readonly origin: string;
  /** Could the request have reached the server. */
  readonly wasSent: boolean;
  /** True where the socket had carried an earlier exchange: a reset may then be the server's idle time-out. */
  readonly wasReused?: boolean;
}

interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
}

const LOST: Meaning = { code: "connection_lost", what: "the connection failed" };
const TIMED_OUT: Meaning = { code: "timed_out", what: "no connection or answer in time" };
const TOO_LARGE: Meaning = { code: "message_too_large", what: "the response headers are too large" };
const NOT_HTTP: Meaning = { code: "protocol_error", what: "the answer is not valid HTTP" };
const NOT_MADE: Meaning = { code: "internal", what: "the request could not be made" };

const PARSER_ERROR = "HTTPParserError";

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["ETIMEDOUT", TIMED_OUT],
  ["UND_ERR_HEADERS_OVERFLOW", TOO_LARGE],
  // undici leaves the code of these undefined, so the class says what it is.
  [PARSER_ERROR, NOT_HTTP],
  ["UND_ERR_INVALID_ARG", NOT_MADE],
  ["UND_ERR_NOT_SUPPORTED", NOT_MADE],
  ["Z_DATA_ERROR", NOT_HTTP],
  ["Z_NEED_DICT", NOT_HTTP],
]);

/** `error` as a PortcullisError: itself where it is one, otherwise by its code, `connection_lost` where nothing fits better. */
export function fromNetError(error: unknown, context: NetErrorContext): PortcullisError {
  if (error instanceof PortcullisError) return error;
  const reason = reasonOf(error);
  const { code, what } = meaningOf(reason);
  const when = context.wasSent ? "after the request was sent" : "before the request was sent";
  return new PortcullisError(code, `${context.origin}: ${what} ${when} (\`${reason}\`)`, {
    // The parser's error carries the bytes that it stumbled over, and with them whatever the server echoed.
    cause: reason === PARSER_ERROR ? new Error(String((error as Error).message)) : error,
    data: {
      reason,
      wasSent: context.wasSent,
      ...(context.wasReused === undefined ? {} : { wasReused: context.wasReused }),
    },
  });
}

function meaningOf(reason: string): Meaning {
  const known = MEANINGS.get(reason);
  if (known !== undefined) return known;
  const isMalformed =
    reason.startsWith("HPE_") || reason.startsWith("ERR__ERROR_") || reason.startsWith("ERR_BROTLI_");
  return isMalformed ? NOT_HTTP : LOST;
}

/** The code that Node, OpenSSL or undici gave; of several attempts the last one's. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors.at(-1));
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : error instanceof Error ? error.name : "unknown";
}
