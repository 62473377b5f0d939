/** The index by which a model finds tools: made in slices, and anew only where what is offered has changed. */
import { inSlices } from "../base/slices.ts";
import type { ListedTool } from "../registry/registry.ts";
import { toolSearch, type SearchableTool, type ToolSearch } from "../registry/search.ts";
import type { Core } from "./core.ts";

interface KeptSearch {
  readonly listed: readonly ListedTool[];
  readonly search: ToolSearch<SearchableTool>;
}

/** The last one of each host: most agents have one principal. */
const kept = new WeakMap<Core, KeptSearch>();

export async function searchOf(
  core: Core,
  listed: readonly ListedTool[],
): Promise<ToolSearch<SearchableTool>> {
  const known = kept.get(core);
  if (known !== undefined && holdsTheSame(known.listed, listed)) return known.search;
  const search = await inSlices(toolSearch(listed.map(asSearchable)));
  kept.set(core, { listed, search });
  return search;
}

/** An entry is one definition: another one is another object. */
function holdsTheSame(one: readonly ListedTool[], other: readonly ListedTool[]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ entry, exposedName }, at) => other[at]?.entry === entry && other[at].exposedName === exposedName,
    )
  );
}

function asSearchable({ exposedName, entry }: ListedTool): SearchableTool {
  const { server, name, title, modelDescription, inputSchema } = entry;
  return { exposedName, server, name, title, description: modelDescription, inputSchema };
}
