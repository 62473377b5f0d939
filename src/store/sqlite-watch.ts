/**
 * Tells listeners that a topic changed: at once for commits of this process, within one poll for those of others.
 * `PRAGMA data_version` says cheaply whether anybody else committed at all; the counters in `topics` then say what. The
 * version is read before the counters, so that a commit in between is seen twice rather than never.
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn } from "./rows.ts";
import { createTopicListeners, type TopicWatch } from "./topic-listeners.ts";

export interface TopicWatchOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Told about listeners that throw and about reads that fail. */
  readonly onFault: (error: unknown) => void;
}

const POLL_MS = 80;

export function createTopicWatch(options: TopicWatchOptions): TopicWatch {
  const { connection, clock, onFault } = options;
  const listeners = createTopicListeners(onFault);
  let seenVersion = -1;
  let pollTimer: Timer | undefined;
  let isClosed = false;

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
      listeners.compare(counters);
    } catch (error) {
      onFault(error);
    }
  };

  const startPolling = (): void => {
    if (pollTimer !== undefined) return;
    // What cannot be read now counts as changed at the first poll that works.
    listeners.forget();
    seenVersion = -1;
    try {
      const version = readVersion();
      listeners.startFrom(readCounters());
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
      const off = listeners.on(topic, listener);
      return () => {
        off();
        if (listeners.isEmpty) stopPolling();
      };
    },
    committed: listeners.told,
    close() {
      isClosed = true;
      stopPolling();
      listeners.close();
    },
  };
}
