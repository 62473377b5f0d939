/**
 * The edge where a peer's failure becomes a PortcullisError: by code and status, never by text.
 *
 * Every error of a request carries `data.wasSent` (may the server have read it) and `data.provesNoEffect` (does the answer
 * prove that nothing was done: a closed list of refusals). JSON-RPC errors carry `data.rpc`.
 */
import type { JsonValue } from "../base/json.ts";
import { PortcullisError, type ErrorCode } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import { methods } from "../protocol/methods.ts";
import { oneLine } from "../text/clean.ts";
import { isModernEvidence } from "../wire/era.ts";

const MAX_MESSAGE_LENGTH = 1_000;
/** `data` of a JSON-RPC error is kept up to this many characters of JSON. */
const MAX_DATA_LENGTH = 8_192;

/** Methods whose -32602 speaks of the caller's arguments. */
const TAKES_ARGUMENTS: ReadonlySet<string> = new Set([methods.callTool, methods.getPrompt, methods.complete]);

/** What `error.data.rpc` holds. */
export interface RpcErrorData {
  readonly code: number;
  /** Cleaned for people, one line, capped. Still the server's words. */
  readonly message: string;
  /** As it came where it is small; absent otherwise. Not cleaned. */
  readonly data?: JsonValue;
}

/** A JSON-RPC error as the answer to `method`. @param status of the HTTP response that carried it, where there was one. */
export function fromRpcError(method: string, error: JsonRpcErrorObject, status?: number): PortcullisError {
  const message = oneLine(error.message, MAX_MESSAGE_LENGTH);
  const rpc: RpcErrorData = { code: error.code, message, ...keptData(error.data) };
  const text = message === "" ? "" : `: \`${oneLine(message, 200)}\``;
  return new PortcullisError(
    codeOf(method, error.code),
    `\`${method}\` was answered by error ${error.code}${text}`,
    {
      data: {
        method,
        rpc,
        wasSent: true,
        provesNoEffect: provesNoEffect(error.code),
        ...(status === undefined ? {} : { status }),
      },
    },
  );
}

function codeOf(method: string, code: number): ErrorCode {
  switch (code) {
    case rpcCodes.invalidParams:
      return TAKES_ARGUMENTS.has(method) ? "invalid_arguments" : "remote_error";
    case rpcCodes.missingClientCapability:
    case rpcCodes.unsupportedProtocolVersion:
      return "incompatible";
    case rpcCodes.headerMismatch:
      return "protocol_error";
    default:
      return "remote_error";
  }
}

/** True for the JSON-RPC codes that refuse a request before anything is done. */
function provesNoEffect(code: number): boolean {
  return code === rpcCodes.methodNotFound || code === rpcCodes.invalidParams || isModernEvidence(code);
}

function keptData(data: JsonValue | undefined): { readonly data?: JsonValue } {
  if (data === undefined || JSON.stringify(data).length > MAX_DATA_LENGTH) return {};
  return { data };
}

/** A failure that a transport reported, with what every error of a request carries. */
export function fromTransportError(
  method: string,
  error: PortcullisError,
  wasSent: boolean,
): PortcullisError {
  const isRefusal =
    error.code === "auth_required" || (error.code === "session_lost" && error.data["status"] === 404);
  return new PortcullisError(error.code, error.message, {
    cause: error,
    data: { ...error.data, method, wasSent, provesNoEffect: !wasSent || isRefusal },
  });
}

/** A failure of our own making within a request, for example an answer that is not MCP. */
export function requestError(
  code: ErrorCode,
  method: string,
  message: string,
  facts: {
    readonly wasSent: boolean;
    readonly cause?: unknown;
    readonly data?: Readonly<Record<string, unknown>>;
  },
): PortcullisError {
  return new PortcullisError(code, message, {
    ...(facts.cause === undefined ? {} : { cause: facts.cause }),
    data: { ...facts.data, method, wasSent: facts.wasSent, provesNoEffect: !facts.wasSent },
  });
}

/** The caller's own reason where it is one of ours (a deadline of a layer above, a shutdown), otherwise `cancelled`. */
export function givenUpError(method: string, reason: Error, wasSent: boolean): PortcullisError {
  if (reason instanceof PortcullisError) {
    return requestError(reason.code, method, reason.message, { wasSent, cause: reason, data: reason.data });
  }
  return requestError("cancelled", method, `\`${method}\` was cancelled by its caller${whyOf(reason)}`, {
    wasSent,
    cause: reason,
  });
}

/** The words of whoever cancelled; those of a bare `abort()` say nothing. */
function whyOf(reason: Error): string {
  return reason.name === "AbortError" || reason.message === "" ? "" : `: ${oneLine(reason.message, 200)}`;
}

/** What many servers answer for an unknown session. Nothing may be concluded from it, but it is worth asking. */
const SESSION_NOT_FOUND = -32001;
const DOUBTFUL_STATUSES: ReadonlySet<unknown> = new Set([400, 404, 503]);

/** Whether a failure may come from a legacy server that forgot the session without saying so by 404. */
export function mayMeanLostSession(error: PortcullisError): boolean {
  if (rpcCodeOf(error) === SESSION_NOT_FOUND) return true;
  return error.code === "http_error" && DOUBTFUL_STATUSES.has(error.data["status"]);
}

/** The JSON-RPC code that an error stands for; `undefined` for all that is no answer of the server. */
export function rpcCodeOf(error: unknown): number | undefined {
  if (!(error instanceof PortcullisError)) return undefined;
  return (error.data["rpc"] as RpcErrorData | undefined)?.code;
}
