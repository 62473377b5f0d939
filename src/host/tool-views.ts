/** Tools as people are shown them: all of them, also what is off or held, each with its grade and where that comes from. */
import { isJsonObject } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { gradeOf } from "../policy/grades.ts";
import { estimateTokens } from "../registry/offer.ts";
import { exposeName } from "../registry/naming.ts";
import { offered } from "../registry/providers.ts";
import type { ListedTool } from "../registry/registry.ts";
import type { Principal } from "../vocabulary.ts";
import type { ToolView } from "./views.ts";
import type { Core } from "./core.ts";
import { factsOf } from "./prepare.ts";

export function viewTools(core: Core, principal: Principal, only?: string): readonly ToolView[] {
  const views: ToolView[] = [];
  for (const server of core.config().servers.values()) {
    if (only !== undefined && server.name !== only) continue;
    const listed = core.registry.list({ principal, server: server.name, includeHeld: true });
    views.push(...listed.map((tool) => viewTool(server, tool)), ...viewHeld(core, server, principal, listed));
  }
  return views;
}

function viewTool(server: ServerConfig, tool: ListedTool): ToolView {
  const { entry } = tool;
  const { grade, from } = gradeOf(server, factsOf({ server, tool }));
  const annotations = entry.raw["annotations"];
  return {
    name: tool.exposedName,
    server: entry.server,
    tool: entry.name,
    grade,
    gradeFrom: from,
    pin: tool.pinState,
    quarantine: tool.quarantine,
    title: entry.title,
    description: entry.description,
    inputSchema: entry.inputSchema,
    claim: isJsonObject(annotations) ? annotations : null,
    tokens: estimateTokens(offered(tool)),
  };
}

/** What never became a tool: named, so that nobody looks for it in vain. */
function viewHeld(
  core: Core,
  server: ServerConfig,
  principal: Principal,
  listed: readonly ListedTool[],
): ToolView[] {
  const names = new Set(listed.map((tool) => tool.entry.name));
  const catalog = core.registry.catalog(core.inputs.keyOf(server, principal));
  return (catalog?.quarantined ?? [])
    .filter((item) => item.kind === "tool")
    .map((item) => {
      const place = `#${item.index + 1}`;
      // The second of two with one name is told apart from the first, which is used.
      const tool = item.name === null ? place : names.has(item.name) ? `${item.name} (${place})` : item.name;
      return {
        name: exposeName(server.name, tool),
        server: server.name,
        tool,
        grade: "off",
        gradeFrom: "quarantine",
        pin: "new",
        quarantine: item.quarantine,
        title: null,
        description: null,
        inputSchema: {},
        claim: null,
        tokens: 0,
      };
    });
}
