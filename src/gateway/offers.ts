/** Everything that agents are offered: four lists, and which notification tells of which. */
import type { Clock } from "../base/clock.ts";
import { createLifetime } from "../base/lifetime.ts";
import type { Host } from "../host/api.ts";
import { notifications } from "../protocol/methods.ts";
import type { Prompt, Resource, ResourceTemplate } from "../protocol/types.ts";
import { createOfferList, type OfferList } from "./offer-list.ts";
import { createToolList, type ToolList } from "./tool-list.ts";

/** What a notification of a change is about. */
export type ChangingList = "tools" | "prompts" | "resources";

export interface Offers {
  readonly tools: ToolList;
  readonly resources: OfferList<Resource>;
  readonly resourceTemplates: OfferList<ResourceTemplate>;
  readonly prompts: OfferList<Prompt>;
  /** Something was done that no event tells of, after which the lists may be others. */
  mayHaveChanged(): void;
  /** Called when one of these lists has really changed. @returns the end of it. */
  onChanged(lists: readonly ChangingList[], listener: (notification: string) => void): () => void;
  close(): Promise<void>;
}

export const ALL_LISTS: readonly ChangingList[] = ["tools", "prompts", "resources"];

/** Events after which the lists may be others. */
const TELLING: ReadonlySet<string> = new Set(["catalog.refreshed", "config.reloaded"]);

export function createOffers(host: Pick<Host, "turn" | "onEvent">, clock: Clock): Offers {
  const lifetime = createLifetime("gateway lists");
  const tools = lifetime.own(createToolList(host, clock));
  const resources = lifetime.own(
    createOfferList<Resource>({
      host,
      clock,
      read: (turn) => turn.resources(),
      keyOf: ({ uri }) => uri,
    }),
  );
  const resourceTemplates = lifetime.own(
    createOfferList<ResourceTemplate>({
      host,
      clock,
      read: (turn) => turn.resourceTemplates(),
      keyOf: ({ uriTemplate }) => uriTemplate,
    }),
  );
  const prompts = lifetime.own(
    createOfferList<Prompt>({ host, clock, read: (turn) => turn.prompts(), keyOf: ({ name }) => name }),
  );
  const told: Readonly<Record<ChangingList, readonly [string, ...Pick<ToolList, "onChanged">[]]>> = {
    tools: [notifications.toolsChanged, tools],
    prompts: [notifications.promptsChanged, prompts],
    resources: [notifications.resourcesChanged, resources, resourceTemplates],
  };
  const mayHaveChanged = (): void => {
    for (const list of [tools, resources, resourceTemplates, prompts]) list.mayHaveChanged();
  };
  lifetime.onClose(
    host.onEvent(
      (event) => {
        if (TELLING.has(event.type)) mayHaveChanged();
      },
      { calls: false },
    ),
  );
  return {
    tools,
    resources,
    resourceTemplates,
    prompts,
    mayHaveChanged,
    onChanged(lists, listener) {
      const stops = lists.flatMap((name) => {
        const [notification, ...sources] = told[name];
        return sources.map((source) => source.onChanged(() => listener(notification)));
      });
      return () => {
        for (const stop of stops) stop();
      };
    },
    close: () => lifetime.close(),
  };
}
