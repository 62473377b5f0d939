/** The text of a body or line as a message, server role. Texts beyond the bounds of depth and count are never parsed. */
import { findInexact } from "../base/exact-json.ts";
import { parseJson } from "../base/json.ts";
import type { DecodedText } from "../base/utf8.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import { parseMessageText } from "../transport/message-text.ts";
import { classifyMessage, type ClassifiedMessage } from "../wire/jsonrpc.ts";

export type ReadMessage =
  | Exclude<ClassifiedMessage, { readonly kind: "odd" }>
  | { readonly kind: "unreadable"; readonly error: JsonRpcErrorObject };

/** Members of one batch (2025-03-26) that are answered. */
export const MAX_BATCH = 100;

/** Never throws. */
export function readMessage({ text, hasInvalidUtf8 }: DecodedText): ReadMessage {
  if (hasInvalidUtf8) return unreadable(rpcCodes.parseError, "the text is not UTF-8");
  const { messages, excess } = parseMessageText(text, "gateway");
  if (excess !== undefined) {
    return unreadable(rpcCodes.invalidRequest, `the message is beyond the bound of ${excess.bound}`);
  }
  const [first] = messages;
  const isSingle = messages.length === 1 && text.trimStart().startsWith("{");
  const value = isSingle ? first : parseJson(text);
  if (value === undefined) return unreadable(rpcCodes.parseError, "the text is not JSON");
  // A call would be judged and sent otherwise than the agent meant.
  const inexact = findInexact(text, value);
  if (inexact !== undefined) return unreadable(rpcCodes.invalidRequest, inexact);
  const message = classifyMessage(value);
  if (message.kind !== "odd") return message;
  return unreadable(rpcCodes.invalidRequest, `not a JSON-RPC message: ${message.flaw}`);
}

function unreadable(code: number, message: string): ReadMessage {
  return { kind: "unreadable", error: { code, message } };
}
