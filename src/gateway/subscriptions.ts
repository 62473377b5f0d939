/**
 * `subscriptions/listen`, server role: acknowledged first, every notification tagged with the id of its request, only what
 * was asked for, a result in the end. The same over HTTP and stdio. Source: patterns/subscriptions.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { metaKeys } from "../protocol/codes.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import { completeResult } from "../wire/modern.ts";
import { intersectFilters, readFilter } from "../wire/subscriptions.ts";
import { SERVER_INFO, type McpMethods } from "./mcp-methods.ts";
import type { ChangingList, Offers } from "./offers.ts";
import { createWatchDesk } from "./watch-desk.ts";

export interface Subscription {
  /** No more notifications. */
  stop(): void;
  /** The response that ends the subscription in good order. */
  result(): object;
}

export interface SubscriptionDeps {
  readonly offers: Pick<Offers, "onChanged">;
  readonly mcp: Pick<McpMethods, "watch">;
  /** Writes one message of the stream. */
  readonly send: (message: object) => void;
}

/** Acknowledged at once where no resource is watched, otherwise when the servers have agreed or let the time pass. */
export function openSubscription(
  id: RequestId,
  params: JsonObject,
  { offers, mcp, send }: SubscriptionDeps,
): Subscription {
  const { resourceSubscriptions: uris = [], ...asked } = readFilter(ownProperty(params, "notifications"));
  const lists = intersectFilters(asked, {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
  });
  const meta = { [metaKeys.subscriptionId]: id };
  const notify = (method: string, members: object = {}): void =>
    send({ jsonrpc: "2.0", method, params: { ...members, _meta: meta } });
  let state: { readonly kind: "opening" | "over" } | { readonly kind: "live"; readonly stop: () => void } = {
    kind: "opening",
  };
  const desk = createWatchDesk(mcp, (uri) => {
    // Before the acknowledgement nothing counts.
    if (state.kind === "live") notify(notifications.resourceUpdated, { uri });
  });

  const begin = (accepted: SubscriptionFilter): void => {
    if (state.kind !== "opening") return;
    notify(notifications.acknowledged, { notifications: accepted });
    const stop = offers.onChanged(listsOf(lists), (notification) => notify(notification));
    state = { kind: "live", stop };
  };

  if (uris.length === 0) begin(lists);
  else {
    void watchAll(uris, (uri) => desk.add(uri)).then((watched) =>
      begin(watched.length === 0 ? lists : { ...lists, resourceSubscriptions: watched }),
    );
  }
  return {
    stop() {
      if (state.kind === "live") state.stop();
      state = { kind: "over" };
      desk.close();
    },
    result: () => ({
      jsonrpc: "2.0",
      id,
      result: completeResult({ _meta: meta as JsonObject }, { serverInfo: SERVER_INFO }),
    }),
  };
}

/** @returns those that are watched now, in order. */
async function watchAll(
  uris: readonly string[],
  add: (uri: string) => Promise<void>,
): Promise<readonly string[]> {
  const unlike = [...new Set(uris)];
  const ends = await Promise.allSettled(unlike.map(add));
  return unlike.filter((_uri, at) => ends[at]?.status === "fulfilled");
}

function listsOf(filter: SubscriptionFilter): readonly ChangingList[] {
  return [
    ...(filter.toolsListChanged === true ? (["tools"] as const) : []),
    ...(filter.promptsListChanged === true ? (["prompts"] as const) : []),
    ...(filter.resourcesListChanged === true ? (["resources"] as const) : []),
  ];
}
