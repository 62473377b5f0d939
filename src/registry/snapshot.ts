/**
 * A catalog as JSON, for the store: the definitions as they came. Judgements are not kept but made anew, so that a newer version
 * of this program, or another override in the configuration, judges what an older one has stored.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { clip } from "../text/clean.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import type { CatalogInput } from "./catalog.ts";
import { isQuarantineCode, type Catalog, type ListName, type QuarantinedItem } from "./entry.ts";

const VERSION = 1;
/** As JSON text; what is beyond is left out, and the list marked as partial. */
const MAX_SNAPSHOT_LENGTH = 16 * 1024 * 1024;
const LISTS: readonly ListName[] = ["tools", "resources", "templates", "prompts"];
const KIND_OF = { tools: "tool", resources: "resource", templates: "template", prompts: "prompt" } as const;

export function snapshotCatalog(catalog: Catalog): JsonObject {
  let length = 0;
  const partial = new Set<ListName>(catalog.partial);
  const lists: Record<string, JsonValue> = {};
  for (const list of LISTS) {
    const held = catalog.quarantined.filter((item) => item.kind === KIND_OF[list] && !isOnlyTold(item));
    const raws = [
      ...catalog[list].map((entry) => entry.raw),
      ...held.flatMap((item) => (item.raw === null ? [] : [item.raw])),
    ];
    lists[list] = raws.filter((raw) => {
      length += JSON.stringify(raw).length;
      if (length <= MAX_SNAPSHOT_LENGTH) return true;
      partial.add(list);
      return false;
    });
  }
  return {
    version: VERSION,
    server: catalog.key.server,
    credential: catalog.key.credential,
    receivedAt: catalog.receivedAt,
    partial: [...partial],
    instructions: catalog.instructions?.raw ?? null,
    told: catalog.quarantined.filter(isOnlyTold).map(({ kind, name, index, quarantine }) => {
      return { kind, name, index, code: quarantine.code, reason: quarantine.reason };
    }),
    ...lists,
  };
}

/** What cannot be judged anew: nothing of it was kept, or its place in the list matters. */
function isOnlyTold({ raw, name, quarantine }: QuarantinedItem): boolean {
  return raw === null || name === null || quarantine.code === "duplicate_name";
}

/** @returns what to build the catalog from; `undefined` for what is no snapshot of `key`, or one of another version. */
export function readSnapshot(value: unknown, key: ConnectionKey): CatalogInput | undefined {
  if (!isJsonObject(value) || ownProperty(value, "version") !== VERSION) return undefined;
  if (ownProperty(value, "server") !== key.server || ownProperty(value, "credential") !== key.credential)
    return undefined;
  const listOf = (name: string): readonly unknown[] => {
    const list = ownProperty(value, name);
    return Array.isArray(list) ? list : [];
  };
  const receivedAt = ownProperty(value, "receivedAt");
  return {
    key,
    receivedAt: typeof receivedAt === "number" ? receivedAt : 0,
    tools: listOf("tools"),
    resources: listOf("resources"),
    templates: listOf("templates"),
    prompts: listOf("prompts"),
    instructions: ownProperty(value, "instructions"),
    partial: LISTS.filter((list) => listOf("partial").includes(list)),
    held: listOf("told").flatMap((item) => readTold(item, key.server)),
  };
}

function readTold(value: unknown, server: string): readonly QuarantinedItem[] {
  if (!isJsonObject(value)) return [];
  const { kind, name, index, code, reason } = value;
  const known = Object.values(KIND_OF).find((one) => one === kind);
  if (known === undefined || typeof index !== "number" || !isQuarantineCode(code)) return [];
  const shown = typeof reason === "string" ? clip(reason, 300) : "";
  return [
    {
      kind: known,
      server,
      name: typeof name === "string" ? name : null,
      index,
      quarantine: { code, reason: shown },
      raw: null,
    },
  ];
}
