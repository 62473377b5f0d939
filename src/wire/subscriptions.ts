/**
 * One `subscriptions/listen` stream: which of its notifications count. Pure. Source: patterns/subscriptions.
 *
 * Invariants: nothing counts before the acknowledgement; nothing counts that was not asked for or not acknowledged; the
 * subscription id is compared with its type (`1` is not `"1"`).
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { metaKeys } from "../protocol/codes.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import { readMeta } from "./meta.ts";

/** A fact that a listen stream told. */
export type SubscriptionFact =
  | { readonly kind: "list_changed"; readonly list: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource_updated"; readonly uri: string }
  | { readonly kind: "task"; readonly params: JsonObject };

export type ListenState =
  | { readonly kind: "waiting"; readonly asked: SubscriptionFilter }
  | { readonly kind: "live"; readonly accepted: SubscriptionFilter };

export type ListenStep =
  | { readonly kind: "acknowledged"; readonly accepted: SubscriptionFilter }
  | { readonly kind: "fact"; readonly fact: SubscriptionFact }
  | { readonly kind: "dropped"; readonly why: "early" | "unasked" | "malformed" | "second-acknowledgement" };

/** The subscription id that a notification carries; `undefined` where it carries none. */
export function readSubscriptionId(params: JsonObject | undefined): RequestId | undefined {
  const meta = readMeta(params);
  const id = meta === undefined ? undefined : ownProperty(meta, metaKeys.subscriptionId);
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Judges one notification that carries the id of this stream. */
export function classifyListenNotification(
  state: ListenState,
  method: string,
  params: JsonObject,
): ListenStep {
  if (method === notifications.acknowledged) {
    if (state.kind === "live") return { kind: "dropped", why: "second-acknowledgement" };
    return {
      kind: "acknowledged",
      accepted: intersectFilters(state.asked, readFilter(ownProperty(params, "notifications"))),
    };
  }
  const fact = readFact(method, params);
  if (fact === undefined) return { kind: "dropped", why: "malformed" };
  if (state.kind === "waiting") return { kind: "dropped", why: "early" };
  return covers(state.accepted, fact) ? { kind: "fact", fact } : { kind: "dropped", why: "unasked" };
}

/** What a notification says, for both eras; `undefined` for other methods and malformed ones. */
export function readFact(method: string, params: JsonObject): SubscriptionFact | undefined {
  switch (method) {
    case notifications.toolsChanged:
      return { kind: "list_changed", list: "tools" };
    case notifications.promptsChanged:
      return { kind: "list_changed", list: "prompts" };
    case notifications.resourcesChanged:
      return { kind: "list_changed", list: "resources" };
    case notifications.resourceUpdated: {
      const uri = ownProperty(params, "uri");
      return typeof uri === "string" ? { kind: "resource_updated", uri } : undefined;
    }
    case notifications.task:
      return { kind: "task", params };
    default:
      return undefined;
  }
}

/** Whether `filter` lets `fact` through. An update may name a part of a resource that was asked for. */
export function covers(filter: SubscriptionFilter, fact: SubscriptionFact): boolean {
  switch (fact.kind) {
    case "list_changed":
      if (fact.list === "tools") return filter.toolsListChanged === true;
      return (fact.list === "prompts" ? filter.promptsListChanged : filter.resourcesListChanged) === true;
    case "resource_updated":
      return (filter.resourceSubscriptions ?? []).some((uri) => isPartOf(fact.uri, uri));
    case "task":
      return (filter.taskIds ?? []).some((taskId) => taskId === ownProperty(fact.params, "taskId"));
  }
}

/** Whether `uri` is `whole` or lies below it. */
function isPartOf(uri: string, whole: string): boolean {
  if (!uri.startsWith(whole)) return false;
  return uri.length === whole.length || whole.endsWith("/") || "/?#".includes(uri.charAt(whole.length));
}

/** A filter as received: unknown members and wrong types are left out. */
export function readFilter(value: unknown): SubscriptionFilter {
  if (!isJsonObject(value)) return {};
  const flag = (
    name: "toolsListChanged" | "promptsListChanged" | "resourcesListChanged",
  ): SubscriptionFilter => (ownProperty(value, name) === true ? { [name]: true } : {});
  const texts = (name: "resourceSubscriptions" | "taskIds"): SubscriptionFilter => {
    const list = ownProperty(value, name);
    return Array.isArray(list)
      ? { [name]: list.filter((entry): entry is string => typeof entry === "string") }
      : {};
  };
  return {
    ...flag("toolsListChanged"),
    ...flag("promptsListChanged"),
    ...flag("resourcesListChanged"),
    ...texts("resourceSubscriptions"),
    ...texts("taskIds"),
  };
}

/** What both filters let through. */
export function intersectFilters(one: SubscriptionFilter, other: SubscriptionFilter): SubscriptionFilter {
  return combine(
    one,
    other,
    (left, right) => left && right,
    (left, right) => {
      const both = new Set(right);
      return left.filter((entry) => both.has(entry));
    },
  );
}

/** What any of the filters lets through. */
export function unionFilters(filters: readonly SubscriptionFilter[]): SubscriptionFilter {
  return filters.reduce(
    (all, filter) =>
      combine(
        all,
        filter,
        (left, right) => left || right,
        (left, right) => [...new Set([...left, ...right])],
      ),
    {},
  );
}

function combine(
  one: SubscriptionFilter,
  other: SubscriptionFilter,
  flags: (left: boolean, right: boolean) => boolean,
  lists: (left: readonly string[], right: readonly string[]) => readonly string[],
): SubscriptionFilter {
  const flag = (
    name: "toolsListChanged" | "promptsListChanged" | "resourcesListChanged",
  ): SubscriptionFilter => (flags(one[name] === true, other[name] === true) ? { [name]: true } : {});
  const list = (name: "resourceSubscriptions" | "taskIds"): SubscriptionFilter => {
    const entries = lists(one[name] ?? [], other[name] ?? []);
    return entries.length === 0 ? {} : { [name]: entries };
  };
  return {
    ...flag("toolsListChanged"),
    ...flag("promptsListChanged"),
    ...flag("resourcesListChanged"),
    ...list("resourceSubscriptions"),
    ...list("taskIds"),
  };
}

/** True where a filter lets nothing through. */
export function isEmptyFilter(filter: SubscriptionFilter): boolean {
  return Object.keys(filter).length === 0;
}
