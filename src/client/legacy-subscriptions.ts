/**
 * Subscriptions of the legacy era: list changes come unasked where the server declares them; single resources are subscribed
 * to one by one. Source: 2025-11-25 server/resources#subscriptions.
 */
import { PortcullisError } from "../errors.ts";
import type { JsonObject } from "../base/json.ts";
import { methods } from "../protocol/methods.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import { readFact } from "../wire/subscriptions.ts";
import type { Core } from "./core.ts";
import type { SendLeg } from "./leg.ts";
import type { SubscriptionDriver, Subscriptions } from "./subscriptions.ts";

export interface LegacySubscriptions extends SubscriptionDriver {
  /** A change that a server told. */
  receive(method: string, params: JsonObject): void;
  /** A new session knows nothing of the old one's subscriptions. */
  renewed(): Promise<void>;
}

export function createLegacySubscriptions(
  core: Core,
  subscriptions: Subscriptions,
  sendLeg: SendLeg,
): LegacySubscriptions {
  const subscribed = new Set<string>();
  let tail: Promise<void> = Promise.resolve();

  const ask = async (method: string, uri: string): Promise<boolean> => {
    try {
      await sendLeg(method, { uri }, { signal: core.signal });
      return true;
    } catch (error) {
      core.oddities.note("subscription.refused", error instanceof PortcullisError ? error.message : "");
      return false;
    }
  };

  const bring = async (wanted: SubscriptionFilter): Promise<void> => {
    if (core.signal.aborted || core.facts().capabilities.resources?.subscribe !== true) return;
    const uris = new Set(wanted.resourceSubscriptions ?? []);
    for (const uri of subscribed) {
      if (uris.has(uri)) continue;
      subscribed.delete(uri);
      await ask(methods.unsubscribe, uri);
    }
    for (const uri of uris) {
      if (!subscribed.has(uri) && (await ask(methods.subscribe, uri))) subscribed.add(uri);
    }
  };

  const queue = (work: () => Promise<void>): Promise<void> => {
    tail = tail.then(work).catch(() => undefined);
    return tail;
  };

  return {
    get accepted() {
      if (core.signal.aborted) return {};
      const { tools, prompts, resources } = core.facts().capabilities;
      return {
        ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
        ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
        ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
        ...(subscribed.size === 0 ? {} : { resourceSubscriptions: [...subscribed] }),
      };
    },
    update: (wanted) => queue(() => bring(wanted)),
    receive(method, params) {
      const fact = readFact(method, params);
      if (fact === undefined) core.oddities.note("notification.malformed", method);
      else subscriptions.deliver(fact, false);
    },
    renewed: () =>
      queue(async () => {
        subscribed.clear();
        await bring(subscriptions.wanted());
        subscriptions.deliverGap(subscriptions.wanted());
      }),
  };
}
