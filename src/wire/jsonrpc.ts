/**
 * One parsed JSON value → what it is as a JSON-RPC message of MCP. Pure and the same for client and server.
 *
 * Invariants: ids keep their type (`1` is not `"1"`); a message with both `result` and `error` is never an answer; only own
 * members count; no message is ever matched by its text. Source: JSON-RPC 2.0, MCP basic/index#messages.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type {
  JsonRpcErrorObject,
  JsonRpcNotification,
  JsonRpcRequest,
  RequestId,
} from "../protocol/jsonrpc.ts";

/** Why a value is not a message. */
export type MessageFlaw =
  | "not-an-object"
  | "no-version"
  | "bad-id"
  | "bad-method"
  | "bad-params"
  | "both-members"
  | "bad-result"
  | "bad-error"
  | "neither-member"
  | "empty-batch"
  | "long-batch"
  | "nested-batch";

export type ClassifiedMessage =
  | { readonly kind: "request"; readonly message: JsonRpcRequest }
  | { readonly kind: "notification"; readonly message: JsonRpcNotification }
  | { readonly kind: "success"; readonly id: RequestId; readonly result: JsonObject }
  /** `id` is absent where the server could not tell which request it answers. */
  | { readonly kind: "failure"; readonly id?: RequestId; readonly error: JsonRpcErrorObject }
  /** A JSON array (2025-03-26 only; the members are harmless elsewhere). */
  | { readonly kind: "batch"; readonly items: readonly ClassifiedMessage[] }
  /** `id` is there where the value carries a usable one: its request may be ended by it. */
  | { readonly kind: "odd"; readonly flaw: MessageFlaw; readonly id?: RequestId };

const MAX_BATCH = 1_000;

/** True for a string or a finite number: `null` is no id of a request. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

/** True for the error object of a response: a numeric code and a message. */
export function isRpcError(value: unknown): value is JsonRpcErrorObject & JsonObject {
  return isJsonObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}

/** Judges one parsed value. Never throws. */
export function classifyMessage(value: unknown): ClassifiedMessage {
  if (Array.isArray(value)) return classifyBatch(value);
  if (!isJsonObject(value)) return { kind: "odd", flaw: "not-an-object" };
  const hasId = Object.hasOwn(value, "id");
  const id = hasId && isRequestId(value["id"]) ? value["id"] : undefined;
  if (!Object.hasOwn(value, "jsonrpc") || value["jsonrpc"] !== "2.0") return odd("no-version", id);
  return Object.hasOwn(value, "method") ? classifyCall(value, hasId, id) : classifyAnswer(value, hasId, id);
}

function classifyCall(value: JsonObject, hasId: boolean, id: RequestId | undefined): ClassifiedMessage {
  if (Object.hasOwn(value, "result") || Object.hasOwn(value, "error")) return odd("both-members", id);
  if (typeof value["method"] !== "string" || value["method"] === "") return odd("bad-method", id);
  if (Object.hasOwn(value, "params") && !isJsonObject(value["params"])) return odd("bad-params", id);
  if (!hasId) return { kind: "notification", message: value as unknown as JsonRpcNotification };
  if (id === undefined) return odd("bad-id", undefined);
  return { kind: "request", message: value as unknown as JsonRpcRequest };
}

function classifyAnswer(value: JsonObject, hasId: boolean, id: RequestId | undefined): ClassifiedMessage {
  const hasResult = Object.hasOwn(value, "result");
  const hasError = Object.hasOwn(value, "error");
  if (hasResult && hasError) return odd("both-members", id);
  if (!hasResult && !hasError) return odd("neither-member", id);
  if (hasResult) {
    if (id === undefined) return odd("bad-id", undefined);
    const result = value["result"];
    // Some legacy servers answer `null` where the result is empty.
    if (result === null) return { kind: "success", id, result: {} };
    return isJsonObject(result) ? { kind: "success", id, result } : odd("bad-result", id);
  }
  if (hasId && id === undefined && value["id"] !== null) return odd("bad-id", undefined);
  const error = readErrorObject(value["error"]);
  if (error === undefined) return odd("bad-error", id);
  return id === undefined ? { kind: "failure", error } : { kind: "failure", id, error };
}

function readErrorObject(value: JsonValue | undefined): JsonRpcErrorObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const code = Object.hasOwn(value, "code") ? value["code"] : undefined;
  if (typeof code !== "number" || !Number.isFinite(code)) return undefined;
  const message =
    Object.hasOwn(value, "message") && typeof value["message"] === "string" ? value["message"] : "";
  const data = Object.hasOwn(value, "data") ? value["data"] : undefined;
  return data === undefined ? { code, message } : { code, message, data };
}

function classifyBatch(values: readonly unknown[]): ClassifiedMessage {
  if (values.length === 0) return { kind: "odd", flaw: "empty-batch" };
  if (values.length > MAX_BATCH) return { kind: "odd", flaw: "long-batch" };
  const items = values.map((value): ClassifiedMessage =>
    Array.isArray(value) ? { kind: "odd", flaw: "nested-batch" } : classifyMessage(value),
  );
  return { kind: "batch", items };
}

function odd(flaw: MessageFlaw, id: RequestId | undefined): ClassifiedMessage {
  return id === undefined ? { kind: "odd", flaw } : { kind: "odd", flaw, id };
}
