/**
 * Server role of 2024-11-05 to 2025-11-25: one peer that begins with `initialize` and is one conversation. The same over
 * HTTP sessions and stdio. Source: 2025-11-25 basic/lifecycle, basic/utilities.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { toPortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "../protocol/jsonrpc.ts";
import { methods, notifications } from "../protocol/methods.ts";
import type { LegacyRevision } from "../protocol/revisions.ts";
import type { ClientCapabilities } from "../protocol/types.ts";
import { isRequestId, type ClassifiedMessage } from "../wire/jsonrpc.ts";
import { chooseLegacyRevision, readInitializeParams } from "../wire/legacy.ts";
import { createInFlight, type InFlight } from "./in-flight.ts";
import { failure, unknownMethod, type CallContext, type McpAnswer } from "./mcp-answer.ts";
import { INSTRUCTIONS, SERVER_INFO, type McpMethods } from "./mcp-methods.ts";
import { createPeerQuestions } from "./peer-questions.ts";
import { createWatchDesk } from "./watch-desk.ts";

export interface LegacyPeer {
  /** `null` before `initialize`. */
  readonly revision: LegacyRevision | null;
  readonly inFlight: InFlight;
  /** @returns `null` where nothing may be answered, because the peer took the request back. */
  answer(request: JsonRpcRequest, signal: AbortSignal, stream: PeerStream): Promise<McpAnswer | null>;
  notified(notification: JsonRpcNotification): void;
  /** An answer to what was asked of the peer. */
  answered(message: Extract<ClassifiedMessage, { readonly kind: "success" | "failure" }>): void;
  /** The peer is gone: nothing is watched for it any more. */
  close(): void;
}

/** The stream of one request. */
export interface PeerStream {
  /** Something that may be left out. */
  notify(notification: object): void;
  /** Something that may not. @returns false where there is no stream. */
  send(message: object): boolean;
}

const LOG_LEVELS: ReadonlySet<unknown> = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);

/** @param conversation names the model's context that the whole session shares. */
export function createLegacyPeer(
  mcp: McpMethods,
  conversation: string,
  tell: (notification: object) => void,
): LegacyPeer {
  const desk = createWatchDesk(mcp, (uri) =>
    tell({ jsonrpc: "2.0", method: notifications.resourceUpdated, params: { uri } }),
  );
  const inFlight = createInFlight();
  const questions = createPeerQuestions();
  let revision: LegacyRevision | null = null;
  let capabilities: ClientCapabilities = {};

  const dispatch = async (
    { method, params = {} }: JsonRpcRequest,
    signal: AbortSignal,
    stream: PeerStream,
  ): Promise<McpAnswer> => {
    if (method === methods.initialize) return initialize(params);
    if (method === methods.ping) return { ok: true, result: {} };
    if (revision === null) return failure(rpcCodes.invalidRequest, "the first request must be initialize");
    const context: CallContext = {
      era: "legacy",
      conversation,
      signal,
      notify: stream.notify,
      client: {
        capabilities,
        ask: (question, asked) => questions.ask(question, asked, stream.send),
      },
    };
    switch (method) {
      case methods.listTools:
        return mcp.listTools(params, "legacy");
      case methods.listResources:
        return mcp.listResources(params);
      case methods.listResourceTemplates:
        return mcp.listResourceTemplates(params);
      case methods.listPrompts:
        return mcp.listPrompts(params);
      case methods.callTool:
        return mcp.callTool(params, context);
      case methods.readResource:
        return mcp.readResource(params, context);
      case methods.getPrompt:
        return mcp.getPrompt(params, context);
      case methods.complete:
        return mcp.complete(params, context);
      case methods.subscribe:
      case methods.unsubscribe:
        return watch(method, params, signal);
      case methods.setLogLevel:
        // No log lines are sent, so any level will do.
        return LOG_LEVELS.has(ownProperty(params, "level"))
          ? { ok: true, result: {} }
          : failure(rpcCodes.invalidParams, "level is not one of the log levels");
      default:
        return unknownMethod(method);
    }
  };

  const initialize = (params: JsonObject): McpAnswer => {
    const asked = readInitializeParams(params);
    if (asked === undefined)
      return failure(rpcCodes.invalidParams, "initialize needs protocolVersion and clientInfo");
    revision = chooseLegacyRevision(asked.protocolVersion);
    ({ capabilities } = asked);
    return {
      ok: true,
      result: {
        protocolVersion: revision,
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          prompts: { listChanged: true },
          completions: {},
          logging: {},
        },
        serverInfo: SERVER_INFO as unknown as JsonObject,
        instructions: INSTRUCTIONS,
      },
    };
  };

  const watch = async (method: string, params: JsonObject, signal: AbortSignal): Promise<McpAnswer> => {
    const uri = ownProperty(params, "uri");
    if (typeof uri !== "string") return failure(rpcCodes.invalidParams, "uri must be a string");
    if (method === methods.unsubscribe) desk.remove(uri);
    else {
      try {
        await desk.add(uri, signal);
      } catch (cause) {
        return failure(rpcCodes.invalidParams, toPortcullisError(cause).message, { uri });
      }
    }
    return { ok: true, result: {} };
  };

  return {
    get revision() {
      return revision;
    },
    inFlight,
    async answer(request, signal, stream) {
      const run = await inFlight.run(request.id, signal, async (own) => dispatch(request, own, stream));
      if (run.kind === "answered") return run.answer;
      return run.kind === "cancelled"
        ? null
        : failure(rpcCodes.invalidRequest, "a request with this id is running");
    },
    notified({ method, params }) {
      if (method !== notifications.cancelled || !isJsonObject(params)) return;
      const id = ownProperty(params, "requestId");
      if (isRequestId(id)) inFlight.cancel(id);
    },
    answered(message) {
      questions.answered(
        message.id,
        message.kind === "success"
          ? { ok: true, result: message.result }
          : { ok: false, error: message.error },
      );
    },
    close() {
      questions.close();
      desk.close();
    },
  };
}

/** The answer to one request as a message. */
export function toMessage(id: JsonRpcRequest["id"], answer: McpAnswer): object {
  return answer.ok
    ? { jsonrpc: "2.0", id, result: answer.result }
    : { jsonrpc: "2.0", id, error: answer.error };
}
