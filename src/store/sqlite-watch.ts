/**
 * Tells listeners that a topic changed: at once for commits of this process, within one poll for those of others.
 * `PRAGMA data_version` says cheaply whether anybody else committed at all; the counters in `topics` then say what. The
 * version is read before the counters, so that a commit in between is seen twice rather than never.
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn } from "./sqlite-rows.ts";

export interface TopicWatch {
  /** @returns the function that takes the listener off. */
  on(topic: string, listener: () => void): () => void;
  /** A commit of this connection: how often each of these topics was changed so far. */
  readonly committed: (changes: ReadonlyMap<string, number>) => void;
  close(): void;
}

export interface TopicWatchOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Told about listeners that throw and about reads that fail. */
  readonly onFault: (error: unknown) => void;
}

const POLL_MS = 80;

export function createTopicWatch(options: TopicWatchOptions): TopicWatch {
  const { connection, clock, onFault } = options;
  const listeners = new Map<string, Set<() => void>>();
  const dirty = new Set<string>();
  let known: Map<string, number> = new Map();
  let seenVersion = -1;
  let pollTimer: Timer | undefined;
  let isClosed = false;

  const fire = (): void => {
    const topics = [...dirty];
    dirty.clear();
    for (const topic of topics) {
      // A copy: a listener may take itself off and put itself on again.
      const called = [...(listeners.get(topic) ?? [])];
      for (const listener of called) {
        try {
          listener();
        } catch (error) {
          onFault(error);
        }
      }
    }
  };

  const mark = (topic: string): void => {
    if (isClosed || !listeners.has(topic)) return;
    if (dirty.size === 0) setImmediate(fire);
    dirty.add(topic);
  };

  const readVersion = (): number =>
    integerColumn(connection.get("PRAGMA data_version") ?? {}, "data_version");

  const readCounters = (): Map<string, number> => {
    const rows = connection.all("SELECT topic, changes FROM topics");
    return new Map(rows.map((row) => [textColumn(row, "topic"), integerColumn(row, "changes")]));
  };

  const poll = (): void => {
    pollTimer = clock.timer(POLL_MS, poll);
    try {
      const version = readVersion();
      if (version === seenVersion) return;
      const counters = readCounters();
      seenVersion = version;
      for (const [topic, changes] of counters) if (known.get(topic) !== changes) mark(topic);
      known = counters;
    } catch (error) {
      onFault(error);
    }
  };

  const startPolling = (): void => {
    if (pollTimer !== undefined) return;
    // What cannot be read now counts as changed at the first poll that works.
    known = new Map();
    seenVersion = -1;
    try {
      const version = readVersion();
      known = readCounters();
      seenVersion = version;
    } catch (error) {
      onFault(error);
    }
    pollTimer = clock.timer(POLL_MS, poll);
  };

  const stopPolling = (): void => {
    pollTimer?.cancel();
    pollTimer = undefined;
  };

  return {
    on(topic, listener) {
      if (isClosed) return () => undefined;
      startPolling();
      // An entry of its own, so that the same function may listen twice.
      const entry = (): void => listener();
      const entries = listeners.get(topic) ?? new Set();
      entries.add(entry);
      listeners.set(topic, entries);
      return () => {
        entries.delete(entry);
        if (entries.size === 0 && listeners.get(topic) === entries) listeners.delete(topic);
        if (listeners.size === 0) stopPolling();
      };
    },
    committed(changes) {
      for (const [topic, count] of changes) {
        // Where somebody else changed it in between, the poll has to tell as well.
        if (known.get(topic) === count - 1) known.set(topic, count);
        mark(topic);
      }
    },
    close() {
      isClosed = true;
      stopPolling();
      listeners.clear();
      dirty.clear();
    },
  };
}
