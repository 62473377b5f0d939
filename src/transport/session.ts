/**
 * The state that HTTP keeps between messages: the legacy session and the negotiated revision, and the headers that follow
 * from them (2025-11-25 transports: session management, protocol version header; modern: request metadata headers). The
 * session id is a server's text: it is checked, sent back to that server alone, and means nothing else.
 */
import { ownProperty } from "../base/json.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { metaRevision } from "./http-message.ts";
import type { HttpResponse } from "./http-port.ts";
import type { SettledProtocol } from "./transport.ts";

type SessionState =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly id: string }
  /** The server forgot it. It is still sent until the next handshake, so that late messages are refused and not run outside of it. */
  | { readonly kind: "lost"; readonly id: string };

export interface HttpSession {
  settled(): SettledProtocol | undefined;
  settle(protocol: SettledProtocol): void;
  /** The session header that a message of this kind carries now. A handshake and modern messages carry none. */
  idFor(message: JsonRpcMessage): string | undefined;
  /** The headers of the protocol for `message`. */
  headersFor(message: JsonRpcMessage): Record<string, string>;
  /** The headers of a request without a message (GET, DELETE). */
  streamHeaders(): Record<string, string>;
  /** A handshake is about to be sent: the old session is forgotten. */
  forget(): void;
  /** Takes the id out of the response to `initialize`. @returns false where the id is unusable. */
  accept(response: HttpResponse): boolean;
  /** The server said that it does not know `id`; ignored where another one is in use by now. */
  lose(id: string): void;
  /** The id that is worth ending, if any. */
  openId(): string | undefined;
}

/** The revision that introduced the `MCP-Protocol-Version` header; revisions are dates, so text order is time order. */
const FIRST_WITH_HEADER = "2025-06-18";
/** Visible ASCII (2025-11-25 transports, session management), bounded. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

export function createHttpSession(): HttpSession {
  let state: SessionState = { kind: "none" };
  let settled: SettledProtocol | undefined;

  const currentId = (): string | undefined => (state.kind === "none" ? undefined : state.id);

  const revisionHeader = (revision: string | undefined): Record<string, string> =>
    revision === undefined || revision < FIRST_WITH_HEADER ? {} : { "mcp-protocol-version": revision };

  const idFor = (message: JsonRpcMessage): string | undefined =>
    isHandshake(message) || metaRevision(message) !== undefined || settled?.era === "modern"
      ? undefined
      : currentId();

  const withId = (id: string | undefined): Record<string, string> =>
    id === undefined ? {} : { "mcp-session-id": id };

  return {
    settled: () => settled,
    settle(protocol) {
      settled = protocol;
    },
    idFor,
    headersFor(message) {
      if (isHandshake(message)) return {};
      return { ...revisionHeader(metaRevision(message) ?? settled?.revision), ...withId(idFor(message)) };
    },
    streamHeaders: () => ({ ...revisionHeader(settled?.revision), ...withId(currentId()) }),
    forget() {
      state = { kind: "none" };
    },
    accept(response) {
      const id = ownProperty(response.headers, "mcp-session-id");
      if (id === undefined) return true;
      if (typeof id !== "string" || !SESSION_ID.test(id)) return false;
      state = { kind: "open", id };
      return true;
    },
    lose(id) {
      if (state.kind === "open" && state.id === id) state = { kind: "lost", id };
    },
    openId: () => (state.kind === "open" ? state.id : undefined),
  };
}

/** True for the request that starts a legacy session. */
export function isHandshake(message: JsonRpcMessage): boolean {
  return "method" in message && message.method === "initialize";
}
