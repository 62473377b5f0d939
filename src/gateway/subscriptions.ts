/**
 * `subscriptions/listen`, server role: acknowledged first, every notification tagged with the id of its request, only what
 * was asked for, a result in the end. The same over HTTP and stdio. Source: patterns/subscriptions.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { metaKeys } from "../protocol/codes.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";
import { completeResult } from "../wire/modern.ts";
import { intersectFilters, readFilter } from "../wire/subscriptions.ts";
import { SERVER_INFO } from "./mcp-methods.ts";
import type { ToolList } from "./tool-list.ts";

export interface Subscription {
  /** No more notifications. */
  stop(): void;
  /** The response that ends the subscription in good order. */
  result(): object;
}

/** @param send writes one message of the stream. */
export function openSubscription(
  id: RequestId,
  params: JsonObject,
  toolList: ToolList,
  send: (message: object) => void,
): Subscription {
  const asked = readFilter(ownProperty(params, "notifications"));
  const accepted = intersectFilters(asked, { toolsListChanged: true });
  const meta = { [metaKeys.subscriptionId]: id };
  const notify = (method: string, members: object = {}): void =>
    send({ jsonrpc: "2.0", method, params: { ...members, _meta: meta } });
  notify(notifications.acknowledged, { notifications: accepted });
  const stop =
    accepted.toolsListChanged === true
      ? toolList.onChanged(() => notify(notifications.toolsChanged))
      : (): void => undefined;
  return {
    stop,
    result: () => ({
      jsonrpc: "2.0",
      id,
      result: completeResult({ _meta: meta as JsonObject }, { serverInfo: SERVER_INFO }),
    }),
  };
}
