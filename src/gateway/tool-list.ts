/** The list of tools, and which of their arguments travel as headers. */
import type { Clock } from "../base/clock.ts";
import type { Host } from "../host/api.ts";
import type { Tool } from "../protocol/types.ts";
import { readHeaderPlan, type HeaderPlan } from "../wire/header-plan.ts";
import { createOfferList, type OfferList } from "./offer-list.ts";

export interface ToolList extends Omit<OfferList<Tool>, "ask"> {
  /** Which arguments of a tool travel as headers, as it was last listed; asks no server. Mostly known at once. */
  headerPlan(name: string): HeaderPlan | Promise<HeaderPlan>;
}

export function createToolList(host: Pick<Host, "turn">, clock: Clock): ToolList {
  let plans: Plans | Promise<Plans> | undefined;
  const { ask, ...list } = createOfferList<Tool>({
    host,
    clock,
    read: async (turn) => (await turn.tools()).map(withoutTasks),
    keyOf: ({ name }) => name,
    onRead: (tools) => {
      plans = plansOf(tools);
    },
  });

  return {
    ...list,
    headerPlan(name) {
      if (plans instanceof Map) return plans.get(name) ?? NO_PLAN;
      const asked = plans ?? ask(0).then(plansOf);
      plans = asked;
      // What was told meanwhile is newer.
      const settle = (known: Plans | undefined): HeaderPlan => {
        if (plans === asked) plans = known;
        return known?.get(name) ?? NO_PLAN;
      };
      return asked.then(settle, () => settle(undefined));
    },
    mayHaveChanged() {
      plans = undefined;
      list.mayHaveChanged();
    },
  };
}

type Plans = Map<string, HeaderPlan>;
const NO_PLAN: HeaderPlan = [];

/** The gateway answers no tasks: clients of 2025-11-25 would refuse to call a tool that wants one. */
function withoutTasks({ execution: _execution, ...tool }: Tool): Tool {
  return tool;
}

function plansOf(tools: readonly Tool[]): Plans {
  const plans = new Map<string, HeaderPlan>();
  for (const tool of tools) {
    const verdict = readHeaderPlan(tool.inputSchema);
    if (verdict.ok && verdict.plan.length > 0) plans.set(tool.name, verdict.plan);
  }
  return plans;
}
