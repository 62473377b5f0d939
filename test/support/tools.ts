/** Catalogs and registries for tests, from raw definitions. */
import { buildCatalog, type CatalogOptions } from "../../src/registry/catalog.ts";
import type { Catalog, ToolEntry } from "../../src/registry/entry.ts";

export function catalogOf(server: string, tools: readonly unknown[], options: CatalogOptions = {}): Catalog {
  return buildCatalog({ key: { server, credential: "shared" }, receivedAt: 1_000, tools }, options);
}

/** The entry of one definition; throws its reason where it is quarantined. */
export function entryOf(definition: Record<string, unknown>, server = "files"): ToolEntry {
  const catalog = catalogOf(server, [definition]);
  const [entry] = catalog.tools;
  if (entry === undefined) throw new Error(catalog.quarantined[0]?.quarantine.reason ?? "no entry");
  return entry;
}

export function tool(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object", properties: {} }, ...more };
}
