/** Documents in memory with the compare-and-set of the store port, for tests of what is built on it. */
import type { Clock } from "../../src/base/clock.ts";
import type { JsonValue } from "../../src/base/json.ts";
import type { Collection, Instance, Store, StoredDocument } from "../../src/store/store.ts";

export interface MemoryStore extends Pick<Store, "documents" | "watch" | "instances"> {
  /** The same documents as another process would see them. */
  as(instanceId: string): MemoryStore;
  /** From now on this instance counts as dead. */
  kill(instanceId: string): void;
  /** How many listeners watch. */
  watcherCount(): number;
}

export function createMemoryStore(clock: Clock): MemoryStore {
  const kept = new Map<string, StoredDocument>();
  const watchers = new Set<{ collection: string; listener: () => void }>();
  const instances = new Map<string, Instance>();
  const dead = new Set<string>();
  const keyOf = (collection: Collection, key: string): string => `${collection}\0${key}`;
  const live = (at: string): StoredDocument | undefined => {
    const found = kept.get(at);
    if (found === undefined || (found.expiresAt !== null && found.expiresAt <= clock.now())) return undefined;
    return found;
  };
  const changed = (collection: Collection): void => {
    for (const watcher of watchers) if (watcher.collection === collection) queueMicrotask(watcher.listener);
  };
  const register = (id: string): Instance => {
    const known = instances.get(id);
    if (known !== undefined) return known;
    const made = {
      id,
      pid: 1,
      processStart: "0",
      role: "test",
      startedAt: clock.now(),
      leaseUntil: Number.MAX_SAFE_INTEGER,
    };
    instances.set(id, made);
    return made;
  };
  const view = (id: string): MemoryStore => ({
    documents: {
      async get(collection, key) {
        return live(keyOf(collection, key));
      },
      async put(collection, key, value, options = {}) {
        const at = keyOf(collection, key);
        const before = live(at)?.version ?? 0;
        if (options.ifVersion !== undefined && options.ifVersion !== before) return undefined;
        const copy = JSON.parse(JSON.stringify(value)) as JsonValue;
        const document = {
          key,
          value: copy,
          version: before + 1,
          updatedAt: clock.now(),
          expiresAt: options.expiresAt ?? null,
        };
        kept.set(at, document);
        changed(collection);
        return document;
      },
      async delete(collection, key, ifVersion) {
        const at = keyOf(collection, key);
        const found = live(at);
        if (found === undefined || (ifVersion !== undefined && found.version !== ifVersion)) return false;
        kept.delete(at);
        changed(collection);
        return true;
      },
      async list(collection, prefix = "") {
        const from = keyOf(collection, prefix);
        return [...kept.keys()]
          .filter((at) => at.startsWith(from))
          .sort()
          .flatMap((at) => live(at) ?? []);
      },
    },
    watch(collection, listener) {
      const watcher = { collection, listener };
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    instances: {
      self: register(id),
      async list() {
        return [...instances.values()];
      },
      async listDead() {
        return [...instances.values()].filter((instance) => dead.has(instance.id));
      },
      async remove(gone) {
        instances.delete(gone);
      },
    },
    as: view,
    kill: (gone) => void dead.add(gone),
    watcherCount: () => watchers.size,
  });
  return view("one");
}
