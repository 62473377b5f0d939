/**
 * Who wants to hear of which changes, on one connection. Two drivers feed it: `listen-stream.ts` (modern, one stream for all)
 * and `legacy-subscriptions.ts`. A change goes to the handlers whose filter covers it, and to the client's owner.
 */
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import {
  covers,
  intersectFilters,
  isEmptyFilter,
  unionFilters,
  type SubscriptionFact,
} from "../wire/subscriptions.ts";
import { readTask } from "../wire/tasks.ts";
import type { Core } from "./core.ts";

/** A change. `isGap`: nobody told it; changes may have been missed while nobody listened. */
export type SubscriptionChange = SubscriptionFact & { readonly isGap: boolean };

export type SubscriptionHandler = (change: SubscriptionChange) => void;

/** One wish, until it is closed. */
export interface Subscription {
  /** What the server agreed to, as far as this wish goes; empty where it refused or has not answered. */
  readonly accepted: SubscriptionFilter;
  close(): void;
}

/** Brings the wishes to the server. */
export interface SubscriptionDriver {
  /** The wishes are others now. Resolves when the server has answered to them; never rejects. */
  update(wanted: SubscriptionFilter): Promise<void>;
  /** What the server has agreed to. */
  readonly accepted: SubscriptionFilter;
}

export interface Subscriptions {
  add(
    filter: SubscriptionFilter,
    handler: SubscriptionHandler,
    driver: SubscriptionDriver,
  ): Promise<Subscription>;
  wanted(): SubscriptionFilter;
  deliver(fact: SubscriptionFact, isGap: boolean): void;
  /** Tells every handler that it may have missed something of `filter`. */
  deliverGap(filter: SubscriptionFilter): void;
}

export function createSubscriptions(core: Core): Subscriptions {
  const wishes = new Set<{ readonly filter: SubscriptionFilter; readonly handler: SubscriptionHandler }>();

  const wanted = (): SubscriptionFilter => unionFilters([...wishes].map((wish) => wish.filter));

  const deliver = (fact: SubscriptionFact, isGap: boolean): void => {
    tellOwner(core, fact, isGap);
    // A handler may add or close wishes.
    const current = [...wishes];
    for (const { filter, handler } of current) {
      if (!covers(filter, fact)) continue;
      try {
        handler({ ...fact, isGap });
      } catch (error) {
        core.oddities.note("subscription.handler-threw", error instanceof Error ? error.message : "");
      }
    }
  };

  return {
    async add(filter, handler, driver) {
      const wish = { filter, handler };
      wishes.add(wish);
      await driver.update(wanted());
      return {
        get accepted() {
          return wishes.has(wish) ? intersectFilters(filter, driver.accepted) : {};
        },
        close() {
          if (wishes.delete(wish)) void driver.update(wanted());
        },
      };
    },
    wanted,
    deliver,
    deliverGap(filter) {
      if (isEmptyFilter(filter)) return;
      if (filter.toolsListChanged === true) deliver({ kind: "list_changed", list: "tools" }, true);
      if (filter.promptsListChanged === true) deliver({ kind: "list_changed", list: "prompts" }, true);
      if (filter.resourcesListChanged === true) deliver({ kind: "list_changed", list: "resources" }, true);
      for (const uri of filter.resourceSubscriptions ?? []) deliver({ kind: "resource_updated", uri }, true);
    },
  };
}

function tellOwner(core: Core, fact: SubscriptionFact, isGap: boolean): void {
  switch (fact.kind) {
    case "list_changed":
      core.emit({ type: "list_changed", list: fact.list, isGap });
      return;
    case "resource_updated":
      core.emit({ type: "resource.updated", uri: fact.uri, isGap });
      return;
    case "task": {
      const task = readTask(fact.params);
      if (task === undefined) core.oddities.note("task.malformed");
      else core.emit({ type: "task.changed", task });
      return;
    }
  }
}
