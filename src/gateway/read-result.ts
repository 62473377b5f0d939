/**
 * From a read or a prompt to the result of `resources/read`, `prompts/get` and `completion/complete`. What the model may read is
 * the model's channel and nothing else; data that is no text comes beside it. Pure. Source: server/resources, server/prompts.
 */
import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { CompletionOutcome, ReadOutcome } from "../host/read-outcome.ts";
import type { Era } from "../protocol/revisions.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import { exposeUri } from "../registry/resource-uris.ts";
import { isHeld, OUTCOME_META } from "./call-result.ts";

type Scan = ServerConfig["scan"] | undefined;

/** @param uri as it was asked for. */
export function toReadResourceResult(uri: string, outcome: ReadOutcome, scan: Scan): JsonObject {
  const contents: JsonObject[] = [];
  for (const block of isHeld(outcome, scan) ? [] : outcome.content) {
    if (block.type !== "resource" || block.resource.blob === undefined) continue;
    const { blob, mimeType, uri: part } = block.resource;
    const type = dataTypeOf(blob, mimeType);
    if (type !== null) contents.push({ uri: exposeUri(outcome.server, part), mimeType: type, blob });
  }
  contents.push({ uri, mimeType: "text/plain", text: outcome.model });
  return { contents, _meta: factsOf(outcome) };
}

/** One message of the user's, whatever roles the server claims: nothing of it was said by the model. */
export function toGetPromptResult(outcome: ReadOutcome, scan: Scan): JsonObject {
  const messages: JsonObject[] = [userMessage({ type: "text", text: outcome.model })];
  for (const block of isHeld(outcome, scan) ? [] : outcome.content) {
    if (block.type === "image" || block.type === "audio")
      messages.push(userMessage({ type: block.type, data: block.data, mimeType: block.mimeType }));
  }
  return { messages, _meta: factsOf(outcome) };
}

export function toCompleteResult({ values, total, hasMore, ...outcome }: CompletionOutcome): JsonObject {
  return {
    completion: {
      values: [...values],
      ...(total === null ? {} : { total }),
      ...(hasMore === null ? {} : { hasMore }),
    },
    _meta: factsOf(outcome),
  };
}

/** Of a read that did not complete. The message is the model's channel: an agent may be shown it. @param uri of what was read. */
export function toReadError(outcome: ReadOutcome, era: Era, uri?: string): JsonRpcErrorObject {
  const { rpcCode, model: message } = outcome;
  const isUnfit = rpcCode === rpcCodes.invalidParams || rpcCode === rpcCodes.resourceNotFound;
  if (uri === undefined || !isUnfit) {
    const code = isUnfit ? rpcCodes.invalidParams : rpcCodes.internalError;
    return { code, message, data: factsOf(outcome) };
  }
  return { code: notFoundCode(era), message, data: { uri, ...factsOf(outcome) } };
}

/** Of a resource that is not there: each era has its own (server/resources#error-handling). */
export function notFoundCode(era: Era): number {
  return era === "legacy" ? rpcCodes.resourceNotFound : rpcCodes.invalidParams;
}

function userMessage(content: JsonObject): JsonObject {
  return { role: "user", content };
}

function factsOf({ callId, outcome, code }: ReadOutcome): JsonObject {
  return { [OUTCOME_META]: { callId, outcome, code } };
}

const TEXTUAL = /^text\/|json|xml|yaml|script|html/u;

/**
 * The type under which data may be passed on. `null` for what a client could read as text: that would go around the model's
 * channel.
 */
function dataTypeOf(blob: string, mimeType: string | undefined): string | null {
  const bytes = Buffer.from(blob, "base64");
  if (isUtf8(bytes) && !bytes.includes(0)) return null;
  return mimeType === undefined || TEXTUAL.test(mimeType) ? "application/octet-stream" : mimeType;
}
