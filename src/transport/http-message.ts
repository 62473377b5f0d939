/** What the HTTP transports need to know of a JSON-RPC message: its kind and its id. Everything else passes untouched. */
import { isJsonObject, ownProperty } from "../base/json.ts";
import { metaKeys } from "../protocol/codes.ts";
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, RequestId } from "../protocol/jsonrpc.ts";

export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}

export function isResponse(message: JsonRpcMessage): message is JsonRpcResponse {
  return !("method" in message);
}

/** True where `response` ends the request `id` on whose exchange it came: it names it, or is an error that names none. */
export function answers(response: JsonRpcResponse, id: RequestId): boolean {
  if (response.id === undefined || response.id === null) return "error" in response;
  return response.id === id && ("result" in response || "error" in response);
}

/** `response` under the id of the request that it answers: an error may have come without one. */
export function withId(response: JsonRpcResponse, id: RequestId): JsonRpcResponse {
  return response.id === id ? response : { ...response, id };
}

/** The revision that a modern message names in its `_meta`. */
export function metaRevision(message: JsonRpcMessage): string | undefined {
  if (!("method" in message) || message.params === undefined) return undefined;
  const meta = ownProperty(message.params, "_meta");
  const revision = isJsonObject(meta) ? ownProperty(meta, metaKeys.protocolVersion) : undefined;
  return typeof revision === "string" ? revision : undefined;
}
