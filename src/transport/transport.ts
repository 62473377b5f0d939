/**
 * The transport port: moves JSON-RPC messages, knows nothing of their meaning. A custom transport implements these five
 * members (`portcullis/client` exports the type).
 *
 * Clauses that bind every implementation, and that its contract suite checks:
 * - After `open` resolves, every message that arrives is given to `sink.message` in the order of arrival.
 * - A request that was sent ends in exactly one of: a response message, `sink.requestFailed`, or `sink.closed`.
 * - `sink.closed` is called once, at the first of: peer gone, fault, `close()`. Nothing is called after it.
 * - When `open` rejects, the sink is never called. A `send` that surely was not sent rejects before `sink.closed` is called.
 * - `close` never rejects and resolves when the whole process group (stdio) or every socket (HTTP) is gone.
 * - No message of any size makes it hold more than its cap plus a constant; beyond the cap the process group or stream is
 *   ended at once and what was in flight fails with `message_too_large`.
 */
import type { PortcullisError } from "../errors.ts";
import type { JsonRpcMessage, RequestId } from "../protocol/jsonrpc.ts";
import type { Era, Revision } from "../protocol/revisions.ts";

export type TransportKind = "stdio" | "http" | "sse" | "memory" | "custom";

/** Where a message came in. */
export interface MessageOrigin {
  /** HTTP only: the request on whose response (or resumed stream) it came. Absent on the legacy GET stream. */
  readonly requestId?: RequestId;
  /** HTTP only: the status of that response. */
  readonly httpStatus?: number;
}

/** Something odd that came in and was passed over: counted, kept in a small bounded sample, never fatal by itself. */
export interface Oddity {
  /** Dotted id, for example `stdio.noise-line`, `http.content-type`, `jsonrpc.batch`. */
  readonly kind: string;
  /** The first bytes with control characters made visible, at most 200 characters. */
  readonly sample: string;
  /** How many of this kind since the last report, this one included; default 1. Floods are reported in part only. */
  readonly count?: number;
}

/** What a transport tells its owner. None of these may throw. */
export interface TransportSink {
  message(message: JsonRpcMessage, origin: MessageOrigin): void;
  /**
   * The exchange of one request ended without its response. Codes: `connection_lost`, `http_error`, `auth_required`,
   * `session_lost`, `message_too_large`, `protocol_error`, `timed_out`. For HTTP `error.data` holds what is known of
   * `{ status, wwwAuthenticate, retryAfterMs, wasSent }`.
   */
  requestFailed(id: RequestId, error: PortcullisError): void;
  /** The transport is over; `error` is absent after an orderly `close()`. */
  closed(error?: PortcullisError): void;
  odd(oddity: Oddity): void;
}

export interface SendOptions {
  /** Aborting takes an unsent message out of the queue; on HTTP it also closes the response stream (modern cancellation). */
  readonly signal?: AbortSignal;
  /** HTTP only: the mirrored headers (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`) that the wire codec made. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True for L1 and up: the message never rides on a socket that was idle for over a second. */
  readonly mayHaveEffect?: boolean;
}

/** What a handshake settled; HTTP needs it for headers, sessions and the GET stream. */
export interface SettledProtocol {
  readonly era: Era;
  readonly revision: Revision;
}

/** What `close()` met. */
export interface CloseReport {
  /** `clean`: the peer left by itself. `terminated`/`killed`: it had to be told by SIGTERM/SIGKILL. `remains`: it would not go. */
  readonly how: "clean" | "terminated" | "killed" | "remains";
  readonly detail?: string;
}

export interface Transport {
  readonly kind: TransportKind;
  /** Starts the process or prepares the endpoint. @throws PortcullisError `spawn_failed`, `egress_denied`, or the signal's reason. */
  open(sink: TransportSink, signal: AbortSignal): Promise<void>;
  /**
   * Hands one message over: resolves when the operating system has taken it (stdio) or the response head is there (HTTP).
   * @throws PortcullisError when it surely was not sent (`connection_lost`, `queue_full`, `timed_out`, `message_too_large`,
   * `invalid_arguments` for what has no JSON text; with `data.wasSent = false`), or the signal's reason.
   */
  send(message: JsonRpcMessage, options: SendOptions): Promise<void>;
  /** Called once after every handshake. */
  settle(protocol: SettledProtocol): void;
  /** Ends it; calling it again returns the same promise. */
  close(): Promise<CloseReport>;
}
