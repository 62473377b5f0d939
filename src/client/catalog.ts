/**
 * Lists as a client asks for them: only what the server offers, every page, and for modern HTTP the header annotations of
 * the tools (`x-mcp-header`), remembered for later calls.
 */
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { ListKind } from "../protocol/methods.ts";
import type { Tool } from "../protocol/types.ts";
import { oneLine } from "../text/clean.ts";
import { readHeaderPlan } from "../wire/header-plan.ts";
import type { ListItems } from "../wire/list.ts";
import type { Core } from "./core.ts";
import type { LegOptions } from "./leg.ts";
import { rpcCodeOf } from "./remote-error.ts";
import { emptyList, listAll, offers, type ListOptions, type ListOutcome } from "./list.ts";

export type List = <Kind extends ListKind>(
  kind: Kind,
  options?: ListOptions & { readonly passesGate?: boolean },
) => Promise<ListOutcome<ListItems[Kind]>>;

export function createList(
  core: Core,
  request: (method: string, params: JsonObject, options: LegOptions) => Promise<JsonObject>,
  currentSession: () => number,
): List {
  /** Cursors are of one session: where it is replaced meanwhile, the list begins again, once. */
  const readPages: List = async (kind, options = {}) => {
    for (let isSecond = false; ; isSecond = true) {
      let session: number | undefined;
      try {
        return await listAll(
          kind,
          async (method, params) => {
            const answer = await request(
              method,
              params,
              session === undefined ? options : { ...options, session },
            );
            session ??= currentSession();
            return answer;
          },
          core.limits,
        );
      } catch (error) {
        const isOver = session !== undefined && session !== currentSession();
        if (isSecond || !isOver || !(error instanceof PortcullisError) || error.code !== "session_lost")
          throw error;
      }
    }
  };

  return async (kind, options = {}) => {
    const facts = core.facts();
    if (facts.areCapabilitiesKnown && !offers(facts.capabilities, kind)) return emptyList();
    try {
      const outcome = await readPages(kind, options);
      if (kind !== "tools" || !core.isHttp || facts.era === "legacy") return outcome;
      return planHeaders(core, outcome as ListOutcome<Tool>) as typeof outcome;
    } catch (error) {
      // Many servers have resources but no templates, or declare more than they have.
      if (rpcCodeOf(error) === rpcCodes.methodNotFound) return emptyList();
      throw error;
    }
  };
}

/** A tool with an invalid annotation is left out, as the specification asks; the others are kept. */
function planHeaders(core: Core, outcome: ListOutcome<Tool>): ListOutcome<Tool> {
  core.headerPlans.clear();
  const findings = [...outcome.findings];
  const items = outcome.items.filter((tool) => {
    const verdict = readHeaderPlan(tool.inputSchema);
    if (verdict.ok) {
      if (verdict.plan.length > 0) core.headerPlans.set(tool.name, verdict.plan);
      return true;
    }
    const name = oneLine(tool.name, 80);
    findings.push({
      rule: "catalog.bad-header",
      severity: "low",
      where: `tools/${name}`,
      message: `the tool was left out, its x-mcp-header at \`${oneLine(verdict.where, 80)}\` is invalid: ${verdict.reason}`,
    });
    core.oddities.note("catalog.bad-header", `${name}: ${verdict.reason}`);
    return false;
  });
  return { ...outcome, items, findings };
}
