/**
 * Taking over another configuration. Only a server whose start would differ is ended; a new grade, limit or sentence counts from
 * the next call on, and what was listed is judged anew. The address of a gateway and the place of the state are those of the start.
 */
import type { Config, ServerConfig } from "../config/compiled.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Core } from "./core.ts";

export interface ReloadPlan {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Entries that differ in anything. */
  readonly changed: readonly string[];
  /** Whose connections end, because they would be started or reached in another way. */
  readonly restarted: readonly string[];
  /** Keys of the file whose change counts from the next start of the host. */
  readonly nextStart: readonly string[];
}

/** What `next` changes. Pure. */
export function planReload(before: Config, next: Config): ReloadPlan {
  const changed = [...before.servers.values()].flatMap((server) => {
    const other = next.servers.get(server.name);
    return other === undefined || other.digest === server.digest ? [] : [server.name];
  });
  // Where bytes may go is asked for every new connection, and a socket that is open stays open.
  const isEgressChanged = JSON.stringify(before.egress) !== JSON.stringify(next.egress);
  const restarted = [...before.servers.values()].filter((server) => {
    const other = next.servers.get(server.name);
    if (other === undefined) return false;
    return startsDifferently(server, other) || (isEgressChanged && server.launch.kind !== "stdio");
  });
  return {
    added: [...next.servers.keys()].filter((name) => !before.servers.has(name)),
    removed: [...before.servers.keys()].filter((name) => !next.servers.has(name)),
    changed,
    restarted: restarted.map(({ name }) => name),
    nextStart: [
      ...(isSame(before.gateway, next.gateway) ? [] : ["gateway"]),
      ...(isSame([before.store, before.stateDir], [next.store, next.stateDir]) ? [] : ["store"]),
      ...(isSame(before.telemetry, next.telemetry) ? [] : ["telemetry"]),
    ],
  };
}

/** Literals that look like secrets are compared as they are, though nothing else shows them. */
function isSame(one: unknown, other: unknown): boolean {
  const reveal = (_name: string, value: unknown): unknown => (typeof value === "function" ? value() : value);
  return JSON.stringify(one, reveal) === JSON.stringify(other, reveal);
}

function startsDifferently(one: ServerConfig, other: ServerConfig): boolean {
  return (
    one.launchDigest !== other.launchDigest ||
    one.disabled !== other.disabled ||
    JSON.stringify(one.blocked) !== JSON.stringify(other.blocked)
  );
}

/**
 * Carries a plan out, after the configuration has been replaced. Calls in flight to servers that end may finish, for 5 s; calls that
 * were not sent yet go to what stands in their place.
 */
export async function applyReload(core: Core, catalogs: Catalogs, plan: ReloadPlan): Promise<void> {
  const ended = new Set([...plan.removed, ...plan.restarted]);
  const keys = [
    ...core.pool.list().map(({ key }) => key),
    ...core.registry.catalogs().map((catalog) => catalog.key),
  ];
  for (const key of keys) {
    // What another address did wrong says nothing about this one.
    if (ended.has(key.server)) core.guards.forgive(key);
    if (plan.removed.includes(key.server)) catalogs.forget(key);
    else if (plan.changed.includes(key.server)) await catalogs.rebuild(key);
  }
  await Promise.all([...ended].map(async (name) => core.pool.drop(name)));
}
