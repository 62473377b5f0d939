/**
 * `/mcp` over Streamable HTTP, both eras, on plain `node:http`: no object per request beyond what the answer needs.
 *
 * The era of a POST is told by its message: `_meta` with a revision is modern, whatever the method; `initialize` or a session
 * id is legacy; everything else is modern, and refused there. The order of checks is that of the specification.
 * Source: transports/streamable-http, 2025-11-25 basic/transports.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { linkAbort } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcRequest } from "../protocol/jsonrpc.ts";
import { methods } from "../protocol/methods.ts";
import { isLegacyRevision } from "../protocol/revisions.ts";
import type { ClassifiedMessage } from "../wire/jsonrpc.ts";
import { allowsBatch } from "../wire/legacy.ts";
import { readBody } from "./body.ts";
import { openEventStream } from "./event-stream.ts";
import { openHttpAnswer, readAccept, rpcFailure, sendJson, type HttpAnswer } from "./http-answer.ts";
import type { LegacySession, LegacySessions } from "./legacy-sessions.ts";
import type { GatewayLimits } from "./limits.ts";
import { toMessage } from "./mcp-legacy.ts";
import type { McpMethods } from "./mcp-methods.ts";
import { answerModern, isModernFramed, judgeModernHead, modernStatus } from "./mcp-modern.ts";
import type { Offers } from "./offers.ts";
import type { Pulse } from "./pulse.ts";
import { MAX_BATCH, readMessage, type ReadMessage } from "./read-message.ts";
import type { Rounds } from "./rounds.ts";
import { openSubscription } from "./subscriptions.ts";

export interface McpEndpointDeps {
  readonly mcp: McpMethods;
  readonly offers: Offers;
  readonly rounds: Rounds;
  readonly sessions: LegacySessions;
  readonly pulse: Pulse;
  readonly limits: GatewayLimits;
  /** Aborted when running requests are to be cut off. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

export interface McpEndpoint {
  /** Answers one request whose Host, Origin and token were judged. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends the streams in good order; requests go on. */
  endStreams(): void;
  /** Requests that are being answered. */
  readonly running: number;
  /** Resolves when nothing is being answered any more, or after `giveUp`. */
  idle(): Promise<void>;
  giveUp(): void;
}

const SESSION_HEADER = "mcp-session-id";
/** Of modern calls that name none: there is one token, so there is one agent. */
const CONVERSATION = "agent";

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { limits, pulse, sessions } = deps;
  const streams = new Set<() => void>();
  const idle = Promise.withResolvers<void>();
  let isWaitedFor = false;
  let running = 0;

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    switch (request.method) {
      case "POST":
        void post(request, response).catch((error: unknown) => {
          deps.onError(error);
          refuse(response, 500, rpcCodes.internalError, "internal error");
        });
        return;
      case "GET":
        get(request, response);
        return;
      case "DELETE":
        remove(request, response);
        return;
      default:
        sendJson(response, 405, null, { allow: "GET, POST, DELETE" });
    }
  };

  const post = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const accepted = readAccept(request.headers);
    if (!isJson(request))
      return refuse(response, 415, rpcCodes.invalidRequest, "the body must be application/json");
    if (!accepted.json && !accepted.eventStream) {
      return refuse(
        response,
        406,
        rpcCodes.invalidRequest,
        "Accept must name application/json and text/event-stream",
      );
    }
    if (running >= limits.maxRequests) {
      return refuse(response, 503, rpcCodes.internalError, "too many requests at once: try again later", {
        "retry-after": "1",
      });
    }
    running += 1;
    try {
      const body = await readBody(request, limits.maxBodyBytes);
      if (body === "gone") return;
      if (body === "too_large") {
        const message = `a message may have ${limits.maxBodyBytes} bytes`;
        return refuse(response, 413, rpcCodes.invalidRequest, message, { connection: "close" });
      }
      await answer(readMessage(body), request, response, openHttpAnswer(response, accepted, pulse));
    } finally {
      running -= 1;
      if (running === 0 && isWaitedFor) idle.resolve();
    }
  };

  const answer = (
    message: ReadMessage,
    request: IncomingMessage,
    response: ServerResponse,
    out: HttpAnswer,
  ): void | Promise<void> => {
    if (message.kind === "unreadable") return out.finish(400, rpcFailure(null, message.error));
    const params = "message" in message ? message.message.params : undefined;
    const session = headerOf(request, SESSION_HEADER);
    if (message.kind === "request" && isModernFramed(params))
      return modern(message.message, request, response, out);
    if (message.kind === "request" && message.message.method === methods.initialize) {
      return initialize(message.message, response, out);
    }
    if (session !== undefined && !isModernFramed(params))
      return legacy(message, session, request, response, out);
    if (message.kind === "request") return modern(message.message, request, response, out);
    return loneMessage(message, request, out);
  };

  /** A message without a session that expects no answer: only a notification with the modern header may be one. */
  const loneMessage = (message: ClassifiedMessage, request: IncomingMessage, out: HttpAnswer): void => {
    if (message.kind !== "notification")
      return out.finish(400, rpcFailure(null, { code: rpcCodes.invalidRequest, message: "no request" }));
    const error = judgeModernHead(message.message, headersOf(request), []);
    return error === undefined ? out.finish(202, null) : out.finish(400, rpcFailure(null, error));
  };

  const modern = async (
    message: JsonRpcRequest,
    request: IncomingMessage,
    response: ServerResponse,
    out: HttpAnswer,
  ): Promise<void> => {
    const { id, method, params = {} } = message;
    const name = method === methods.callTool ? params["name"] : undefined;
    const planned = typeof name === "string" ? deps.offers.tools.headerPlan(name) : [];
    const plan = planned instanceof Promise ? await planned : planned;
    const error = judgeModernHead(message, headersOf(request), plan);
    if (error !== undefined) return out.finish(400, rpcFailure(id, error));
    if (method === methods.listen) return listen(message, request, response, out);
    const link = untilGone(response, deps.signal);
    try {
      const context = { conversation: CONVERSATION, signal: link.signal, notify: out.notify };
      const result = await answerModern(deps.mcp, deps.rounds, method, params, context);
      out.finish(modernStatus(result), toMessage(id, result));
    } finally {
      link.unlink();
    }
  };

  const listen = (
    { id, params = {} }: JsonRpcRequest,
    request: IncomingMessage,
    response: ServerResponse,
    out: HttpAnswer,
  ): void => {
    if (streams.size >= limits.maxStreams) {
      return out.finish(503, rpcFailure(id, { code: rpcCodes.internalError, message: "too many streams" }));
    }
    if (!readAccept(request.headers).eventStream) {
      const message = "Accept must name text/event-stream";
      return out.finish(406, rpcFailure(id, { code: rpcCodes.invalidRequest, message }));
    }
    const subscription = openSubscription(id, params, { ...deps, send: out.notify });
    const end = (): void => out.finish(200, subscription.result());
    streams.add(end);
    response.once("close", () => {
      streams.delete(end);
      subscription.stop();
    });
  };

  const initialize = async (
    message: JsonRpcRequest,
    response: ServerResponse,
    out: HttpAnswer,
  ): Promise<void> => {
    const session = sessions.open();
    if (session === undefined) {
      return out.finish(
        503,
        rpcFailure(message.id, { code: rpcCodes.internalError, message: "too many sessions" }),
      );
    }
    const result = await run(session, message, response, out);
    if (result === null || !result.ok) sessions.end(session.id);
    if (result === null) return out.finish(202, null);
    out.finish(200, toMessage(message.id, result), result.ok ? { [SESSION_HEADER]: session.id } : {});
  };

  const legacy = async (
    message: ClassifiedMessage,
    sessionId: string,
    request: IncomingMessage,
    response: ServerResponse,
    out: HttpAnswer,
  ): Promise<void> => {
    const session = useSession(sessionId, request, response);
    if (session === undefined) return;
    switch (message.kind) {
      case "request": {
        const result = await run(session, message.message, response, out);
        return out.finish(
          result === null ? 202 : 200,
          result === null ? null : toMessage(message.message.id, result),
        );
      }
      case "notification":
        session.peer.notified(message.message);
        return out.finish(202, null);
      case "batch":
        return batch(message.items, session, response, out);
      case "success":
      case "failure":
        session.peer.answered(message);
        return out.finish(202, null);
      case "odd":
        return out.finish(
          400,
          rpcFailure(message.id ?? null, { code: rpcCodes.invalidRequest, message: message.flaw }),
        );
    }
  };

  const batch = async (
    items: readonly ClassifiedMessage[],
    session: LegacySession,
    response: ServerResponse,
    out: HttpAnswer,
  ): Promise<void> => {
    if (!allowsBatch(session.peer.revision ?? "") || items.length > MAX_BATCH) {
      return out.finish(
        400,
        rpcFailure(null, { code: rpcCodes.invalidRequest, message: "no batch is allowed here" }),
      );
    }
    const answers = await Promise.all(
      items.map(async (item): Promise<object | null> => {
        if (item.kind === "notification") session.peer.notified(item.message);
        if (item.kind === "success" || item.kind === "failure") session.peer.answered(item);
        if (item.kind !== "request") return null;
        const result = await run(session, item.message, response, out);
        return result === null ? null : toMessage(item.message.id, result);
      }),
    );
    const whole = answers.filter((item) => item !== null);
    out.finish(whole.length === 0 ? 202 : 200, whole.length === 0 ? null : whole);
  };

  const run = async (
    session: LegacySession,
    message: JsonRpcRequest,
    response: ServerResponse,
    out: HttpAnswer,
  ) => {
    const link = untilGone(response, deps.signal, session.signal);
    try {
      return await session.peer.answer(message, link.signal, out);
    } finally {
      link.unlink();
    }
  };

  /** The session of a request, or an answer that refuses it: 404 makes a client begin anew. */
  const useSession = (
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): LegacySession | undefined => {
    const version = headerOf(request, "mcp-protocol-version");
    if (version !== undefined && !isLegacyRevision(version)) {
      refuse(response, 400, rpcCodes.invalidRequest, "MCP-Protocol-Version is not one of a session");
      return undefined;
    }
    const session = sessions.use(id);
    if (session === undefined)
      refuse(response, 404, rpcCodes.invalidRequest, "the session is not known: begin anew with initialize");
    return session;
  };

  const get = (request: IncomingMessage, response: ServerResponse): void => {
    const id = headerOf(request, SESSION_HEADER);
    if (id === undefined) return sendJson(response, 405, null, { allow: "POST" });
    if (!readAccept(request.headers).eventStream) {
      return refuse(response, 406, rpcCodes.invalidRequest, "Accept must name text/event-stream");
    }
    const session = useSession(id, request, response);
    if (session === undefined) return;
    if (streams.size >= limits.maxStreams)
      return refuse(response, 503, rpcCodes.internalError, "too many streams");
    const stream = openEventStream(response, pulse);
    streams.add(stream.end);
    response.once("close", () => streams.delete(stream.end));
    session.listenOn(stream);
  };

  const remove = (request: IncomingMessage, response: ServerResponse): void => {
    const id = headerOf(request, SESSION_HEADER);
    if (id === undefined) return sendJson(response, 405, null, { allow: "POST" });
    if (useSession(id, request, response) === undefined) return;
    sessions.end(id);
    sendJson(response, 200, null);
  };

  return {
    handle,
    endStreams() {
      for (const end of Array.from(streams)) end();
    },
    get running() {
      return running;
    },
    async idle() {
      isWaitedFor = true;
      if (running > 0) await idle.promise;
    },
    giveUp: () => idle.resolve(),
  };
}

/** Aborted when the client leaves before its answer was complete: that takes the request back. */
function untilGone(response: ServerResponse, ...parents: readonly AbortSignal[]) {
  const link = linkAbort(...parents);
  const onClose = (): void => {
    if (!response.writableEnded) link.abort(new PortcullisError("cancelled", "the client is gone"));
  };
  if (response.destroyed) onClose();
  response.once("close", onClose);
  return {
    signal: link.signal,
    unlink() {
      response.off("close", onClose);
      link.unlink();
    },
  };
}

function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  sendJson(response, status, rpcFailure(null, { code, message }), headers);
}

function isJson(request: IncomingMessage): boolean {
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "application/json" && request.headers["content-encoding"] === undefined;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

/** What came several times is joined; only `set-cookie` stays a list, and is none of a request. */
function headersOf(request: IncomingMessage): Readonly<Record<string, string>> {
  return request.headers as Readonly<Record<string, string>>;
}
