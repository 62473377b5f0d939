/**
 * Server role of 2026-07-28: every request stands alone and says in `_meta` what it speaks. The judgement over a request's
 * head is pure and in the order of the specification; over stdio there are no headers and that part falls away.
 * Source: basic/index#_meta, transports/streamable-http#server-validation, server/discover.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcErrorObject, JsonRpcRequest } from "../protocol/jsonrpc.ts";
import { methods } from "../protocol/methods.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../protocol/revisions.ts";
import type { HeaderPlan } from "../wire/header-plan.ts";
import { findHeaderMismatch, requestHeaders } from "../wire/headers.ts";
import { readMeta } from "../wire/meta.ts";
import { completeResult, readEnvelope, type Freshness } from "../wire/modern.ts";
import { unknownMethod, type CallContext, type McpAnswer } from "./mcp-answer.ts";
import type { Rounds } from "./rounds.ts";
import { INSTRUCTIONS, SERVER_INFO, type McpMethods } from "./mcp-methods.ts";

const privateFor = (ttlMs: number): Freshness => ({ ttlMs, cacheScope: "private" });
/** Changes are told. */
const LIST = privateFor(30_000);
const DISCOVER = privateFor(300_000);
/** Every read is a read of the server, and recorded. */
const NOT_KEPT = privateFor(0);

/** Whether a message is framed as modern: it says its revision itself. */
export function isModernFramed(params: JsonObject | undefined): boolean {
  const meta = readMeta(params);
  return meta !== undefined && Object.hasOwn(meta, metaKeys.protocolVersion);
}

/** The names of the headers that mirror a request. */
type ReceivedHeaders = Readonly<Record<string, string>>;

/**
 * What is wrong with a request's envelope and headers, in this order: version header, required `_meta`, their agreement, the
 * version itself, the mirrored headers.
 *
 * @param headers lower-case names; `null` over stdio.
 * @param plan which arguments of the tool travel as headers.
 * @returns `undefined` where nothing is wrong; otherwise the error for a 400.
 */
export function judgeModernHead(
  message: Pick<JsonRpcRequest, "method" | "params">,
  headers: ReceivedHeaders | null,
  plan: HeaderPlan,
): JsonRpcErrorObject | undefined {
  const versionHeader = headers === null ? null : headers["mcp-protocol-version"];
  if (versionHeader === undefined)
    return mismatch(
      "the header MCP-Protocol-Version is missing; before 2026-07-28 the first request is `initialize`",
    );
  const read = readEnvelope(message.params);
  if (!read.ok && read.error.code === rpcCodes.invalidParams) return read.error;
  const version = ownProperty(readMeta(message.params) ?? {}, metaKeys.protocolVersion);
  if (versionHeader !== null && versionHeader !== version) {
    return mismatch("the header MCP-Protocol-Version differs from _meta");
  }
  if (!read.ok) {
    return {
      ...read.error,
      data: { ...(read.error.data as JsonObject), supported: [...MODERN_REVISIONS, ...LEGACY_REVISIONS] },
    };
  }
  return headers === null ? undefined : judgeMirrors(message, headers, read.envelope.revision, plan);
}

function judgeMirrors(
  { method, params }: Pick<JsonRpcRequest, "method" | "params">,
  headers: ReceivedHeaders,
  revision: string,
  plan: HeaderPlan,
): JsonRpcErrorObject | undefined {
  let expected: Record<string, string>;
  try {
    expected = requestHeaders(revision, method, params, plan);
  } catch (error) {
    return {
      code: rpcCodes.invalidParams,
      message: error instanceof Error ? error.message : "an argument cannot be a header",
    };
  }
  const name = findHeaderMismatch(headers, expected);
  return name === undefined
    ? undefined
    : mismatch(`the header ${name.slice(0, 100)} is missing or differs from the body`);
}

function mismatch(message: string): JsonRpcErrorObject {
  return { code: rpcCodes.headerMismatch, message };
}

/**
 * Answers one request whose head was judged. `subscriptions/listen` is not among them: it is a stream.
 *
 * @param rounds hold the calls that wait for an answer of their client.
 * @param context.conversation of calls that name none: what one of them read may be in the context of the next.
 */
export function answerModern(
  mcp: McpMethods,
  rounds: Rounds,
  method: string,
  params: JsonObject,
  context: Omit<CallContext, "era">,
): McpAnswer | Promise<McpAnswer> {
  const inEra = (): CallContext => ({
    ...context,
    era: "modern",
    conversation: conversationOf(params, context.conversation),
  });
  const inRounds = (
    call: (params: JsonObject, context: CallContext) => Promise<McpAnswer>,
  ): Promise<McpAnswer> => {
    const read = readEnvelope(params);
    const capabilities = read.ok ? read.envelope.capabilities : {};
    return rounds.answer({ method, params, capabilities, context: inEra() }, (ofCall) =>
      call(params, ofCall),
    );
  };
  switch (method) {
    case methods.discover:
      return complete({ ok: true, result: discoverResult() }, DISCOVER);
    case methods.listTools:
      return mcp.listTools(params, "modern").then((answer) => complete(answer, LIST));
    case methods.listResources:
      return mcp.listResources(params).then((answer) => complete(answer, LIST));
    case methods.listResourceTemplates:
      return mcp.listResourceTemplates(params).then((answer) => complete(answer, LIST));
    case methods.listPrompts:
      return mcp.listPrompts(params).then((answer) => complete(answer, LIST));
    case methods.callTool:
      return inRounds(mcp.callTool).then((answer) => complete(answer));
    case methods.readResource:
      return inRounds(mcp.readResource).then((answer) => complete(answer, NOT_KEPT));
    case methods.getPrompt:
      return inRounds(mcp.getPrompt).then((answer) => complete(answer));
    case methods.complete:
      return mcp.complete(params, inEra()).then((answer) => complete(answer));
    default:
      return unknownMethod(method);
  }
}

/** The HTTP status of an answer: only an unknown method has one of its own. */
export function modernStatus(answer: McpAnswer): number {
  return !answer.ok && answer.error.code === rpcCodes.methodNotFound ? 404 : 200;
}

function discoverResult(): JsonObject {
  return {
    supportedVersions: [...MODERN_REVISIONS, ...LEGACY_REVISIONS],
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
    },
    instructions: INSTRUCTIONS,
  };
}

/** Says of a result who gives it, and how long it may be kept; a question is for now alone. */
function complete(answer: McpAnswer, cache?: Freshness): McpAnswer {
  if (!answer.ok) return answer;
  const isQuestion = answer.result["resultType"] === "input_required";
  const result = completeResult(answer.result, {
    serverInfo: SERVER_INFO,
    ...(cache === undefined || isQuestion ? {} : { cache }),
  });
  return { ok: true, result };
}

/** Keys of `_meta` under which clients name a conversation that lasts longer than one request; ours first. */
const CONVERSATION_KEYS = ["portcullis/conversation", "openai/session"] as const;
const CONVERSATION = /^[\x21-\x7e]{1,200}$/u;

/** The client names the conversation, not the model: arguments cannot change it. */
function conversationOf(params: JsonObject, base: string): string {
  const meta = readMeta(params) ?? {};
  for (const key of CONVERSATION_KEYS) {
    const id = ownProperty(meta, key);
    if (typeof id === "string" && CONVERSATION.test(id)) return `${base}:${id}`;
  }
  return base;
}
