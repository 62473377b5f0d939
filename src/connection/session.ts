/** What a connection holds while it is up: the host puts its client and catalog behind it. */
import type { PortcullisError } from "../errors.ts";
import type { CloseReport } from "../transport/transport.ts";

/** What an open session must be able to do. */
export interface Session {
  /** One question that any living server answers; resolves with the latency in milliseconds. */
  heartbeat(signal: AbortSignal): Promise<number>;
  close(): Promise<CloseReport>;
}

/** What a session tells its connection. */
export interface SessionEvents {
  /**
   * Takes one of the starts that are left before each process is started, and waits for its turn; false where none is left. The first
   * is always there. @throws the reason of the start's signal.
   */
  mayStart(): Promise<boolean>;
  /** Anything at all came in: the server lives. */
  alive(): void;
  /** The session is over by itself. */
  lost(error: PortcullisError): void;
  /** The server wants (another) authorization: nothing more is sent. */
  unauthorized(error: PortcullisError): void;
}

/**
 * Makes a session ready for calls: transport, handshake, list of tools compared with the pins. What it throws may carry
 * `data.retryAfterMs`: what the peer asked to wait.
 */
export type OpenSession<S extends Session> = (signal: AbortSignal, events: SessionEvents) => Promise<S>;
