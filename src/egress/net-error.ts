/**
 * The edge where errors of sockets, TLS, the HTTP parser and zlib become ours, once. Decides by their codes alone.
 */
import { ownProperty } from "../base/json.ts";
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

const CODES: Readonly<Record<string, ErrorCode>> = {
  ETIMEDOUT: "timed_out",
  UND_ERR_CONNECT_TIMEOUT: "timed_out",
  UND_ERR_HEADERS_TIMEOUT: "timed_out",
  UND_ERR_BODY_TIMEOUT: "timed_out",
  UND_ERR_HEADERS_OVERFLOW: "message_too_large",
  HPE_HEADER_OVERFLOW: "message_too_large",
  UND_ERR_INVALID_ARG: "internal",
  UND_ERR_NOT_SUPPORTED: "internal",
  Z_DATA_ERROR: "protocol_error",
  Z_NEED_DICT: "protocol_error",
  ERR_PADDING_2: "protocol_error",
};

/** `error` as a PortcullisError: itself where it is one, otherwise by its code, `connection_lost` where nothing fits better. */
export function fromNetError(error: unknown, context: NetErrorContext): PortcullisError {
  if (error instanceof PortcullisError) return error;
  const reason = reasonOf(error);
  const code = classifyReason(reason);
  const sent = context.wasSent ? "after the request was sent" : "before the request was sent";
  return new PortcullisError(code, `${context.origin}: ${describe(code)} ${sent} (\`${reason}\`)`, {
    cause: error,
    data: {
      reason,
      wasSent: context.wasSent,
      ...(context.wasReused === undefined ? {} : { wasReused: context.wasReused }),
    },
  });
}

function classifyReason(reason: string): ErrorCode {
  const known = ownProperty(CODES, reason) as ErrorCode | undefined;
  if (known !== undefined) return known;
  if (reason.startsWith("HPE_") || reason.startsWith("ERR__ERROR_FORMAT") || reason.startsWith("ERR_BROTLI_")) {
    return "protocol_error";
  }
  return "connection_lost";
}

function describe(code: ErrorCode): string {
  switch (code) {
    case "timed_out":
      return "no connection or answer in time";
    case "message_too_large":
      return "the response headers are too large";
    case "protocol_error":
      return "the answer is not valid HTTP";
    case "internal":
      return "the request could not be made";
    default:
      return "the connection failed";
  }
}

/** The code that Node, OpenSSL or undici gave; of several attempts the last one's. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors.at(-1));
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : error instanceof Error ? error.name : "unknown";
}
