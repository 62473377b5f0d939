/**
 * What a response head means, as pure decisions, and the errors that say so. Status and content type are judged
 * together; texts of the server appear escaped, cut to 200 characters, and decide nothing but the lost session of
 * `namesSession`.
 */
import { isJsonObject } from "../base/json.ts";
import type { ErrorCode } from "../errors.ts";
import { PortcullisError } from "../errors.ts";
import type { JsonRpcFailure } from "../protocol/jsonrpc.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { HttpResponse } from "./http-port.ts";
import { isResponse } from "./http-message.ts";
import { parseMessageText } from "./message-text.ts";
import { visibleSample } from "./visible.ts";

export type BodyForm =
  | "json"
  | "sse"
  /** Not labelled as JSON, but by a label that servers use for it by mistake: tried as JSON, and noted. */
  | "unlabelled"
  /** Labelled as something else: never parsed. */
  | "foreign";

const MAX_RETRY_AFTER_MS = 7 * 24 * 3_600_000;

/** The form of a body by its content type, without regard to case and parameters (RFC 9110 §8.3.1). */
export function classifyContentType(contentType: string | undefined): BodyForm {
  const [type = ""] = (contentType ?? "").split(";", 1);
  switch (type.trim().toLowerCase()) {
    case "application/json":
      return "json";
    case "text/event-stream":
      return "sse";
    case "":
    case "text/plain":
    case "application/octet-stream":
      return "unlabelled";
    default:
      return "foreign";
  }
}

/**
 * `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3), at most 7 days. `undefined` for a negative
 * number, junk, or nothing.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  if (!/^[A-Za-z]{3,9},? [\w: -]{10,40}$/.test(text)) return undefined;
  // The oldest of the three forms names no zone; all of them are GMT.
  const atMs = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(atMs - nowMs, 0), MAX_RETRY_AFTER_MS);
}

/** The JSON-RPC error in the body of an error status, whatever id it names: on HTTP it answers the request it came for. */
export function rpcErrorIn(text: string): JsonRpcFailure | undefined {
  const [message, more] = parseMessageText(stripBom(text), "http.error-body").messages;
  if (message === undefined || more !== undefined || !isResponse(message) || !("error" in message))
    return undefined;
  return isJsonObject(message.error) ? message : undefined;
}

export function stripBom(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

export interface StatusContext {
  readonly origin: string;
  readonly nowMs: number;
  /** True where the request carried a session id. */
  readonly hadSession: boolean;
}

/** How a request ends whose response has an error status. */
export type StatusVerdict =
  | { readonly kind: "message"; readonly message: JsonRpcFailure }
  | { readonly kind: "error"; readonly error: PortcullisError };

/** Judges a status outside 200 to 399 together with the body's text. */
export function classifyErrorStatus(
  response: HttpResponse,
  text: string,
  context: StatusContext,
): StatusVerdict {
  const { status } = response;
  const rpc = rpcErrorIn(text);
  const code = errorCodeOf(status, rpc, text, context.hadSession);
  if (code === undefined && rpc !== undefined) return { kind: "message", message: rpc };
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"], context.nowMs);
  const wwwAuthenticate = response.headers["www-authenticate"];
  const wait = retryAfterMs === undefined ? "" : `, and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return {
    kind: "error",
    error: new PortcullisError(
      code ?? "http_error",
      `${describeResponse(response, context.origin)}${wait}${quote(text)}`,
      {
        data: {
          status,
          wasSent: true,
          ...(wwwAuthenticate === undefined ? {} : { wwwAuthenticate: wwwAuthenticate.slice(0, 8192) }),
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          ...(rpc === undefined ? {} : { rpc: boundedRpc(rpc) }),
        },
      },
    ),
  };
}

/** `undefined`: the status has no meaning of its own, a JSON-RPC error in the body decides. */
function errorCodeOf(
  status: number,
  rpc: JsonRpcFailure | undefined,
  text: string,
  hadSession: boolean,
): ErrorCode | undefined {
  if (status === 401 || status === 403) return "auth_required";
  if (status === 429) return "rate_limited";
  if (status === 503) return "http_error";
  if (!hadSession) return undefined;
  // An unknown method is no unknown session, although some servers answer both with 404.
  if (status === 404 && rpc?.error.code !== rpcCodes.methodNotFound) return "session_lost";
  if (status === 410) return "session_lost";
  return status === 400 && namesSession(rpc, text) ? "session_lost" : undefined;
}

/**
 * Servers that lost a session often say 400 instead of 404, and only the text tells. It is believed because the worst it
 * can bring about is one new handshake; `data.status` tells it from the 404 that proves that nothing ran.
 */
function namesSession(rpc: JsonRpcFailure | undefined, text: string): boolean {
  const message = rpc === undefined ? text.slice(0, 1000) : rpc.error.message;
  return typeof message === "string" && /\bsession\b/i.test(message);
}

/** Small enough for error data. */
function boundedRpc(rpc: JsonRpcFailure): { code: unknown; message: string; data?: unknown } {
  const { code, message, data } = rpc.error;
  const isSmall = isJsonObject(data) && JSON.stringify(data).length <= 4096;
  return { code, message: visibleSample(String(message)), ...(isSmall ? { data } : {}) };
}

/** The error of a 3xx: names where it points to, follows nothing. */
export function redirectError(response: HttpResponse, from: URL, why: string): PortcullisError {
  const target = redirectTarget(response, from);
  const place = target === undefined ? "without saying where to" : `to \`${placeName(target)}\``;
  return new PortcullisError(
    "egress_denied",
    `${from.origin} answered ${response.status}, a redirect ${place}: ${why}`,
    {
      data: {
        status: response.status,
        wasSent: true,
        ...(target === undefined ? {} : { target: placeName(target) }),
      },
    },
  );
}

/** Where a 3xx points to; `undefined` where it does not say, or not in a URL. */
export function redirectTarget(response: HttpResponse, from: URL): URL | undefined {
  const location = response.headers["location"];
  return location === undefined ? undefined : (URL.parse(location, from.href) ?? undefined);
}

function placeName(url: URL): string {
  return url.origin === "null" ? url.protocol : url.origin;
}

/** A 2xx that holds no response to the request: names status, type and the first characters. */
export function badAnswer(
  response: HttpResponse,
  origin: string,
  what: string,
  text: string,
): PortcullisError {
  return new PortcullisError(
    "protocol_error",
    `${describeResponse(response, origin)}: ${what}${quote(text)}`,
    {
      data: { status: response.status, wasSent: true },
    },
  );
}

function describeResponse(response: HttpResponse, origin: string): string {
  const type = response.headers["content-type"];
  const typed = type === undefined ? "no content type" : `\`${visibleSample(type).slice(0, 80)}\``;
  return `${origin} answered ${response.status} with ${typed}`;
}

function quote(text: string): string {
  return text === "" ? "" : ` (\`${visibleSample(text)}\`)`;
}
