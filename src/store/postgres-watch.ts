/**
 * Tells listeners that a topic changed: at once for commits of this process, by `NOTIFY` for those of others. The connection
 * that listens is made when somebody listens first, and again whenever it is lost. Each time it stands, and every few seconds
 * after that, the counters in `topics` are read: they tell what was missed, and whether the server still answers.
 */
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { integerColumn, textColumn, type Row } from "./rows.ts";
import { createTopicListeners, type TopicWatch } from "./topic-listeners.ts";

/** A connection that hears notifications. */
export interface ListeningConnection {
  query(sql: string): Promise<readonly Row[]>;
  /** Resolves when it is lost or was ended. */
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

export interface PostgresWatchOptions {
  /** @param onNotification told the payload of each notification. @throws where none can be had. */
  readonly connect: (onNotification: (payload: string) => void) => Promise<ListeningConnection>;
  readonly channel: string;
  readonly clock: Clock;
  /** Told about listeners that throw, and about the first failure of an outage. */
  readonly onFault: (error: unknown) => void;
}

const LOOK_EVERY_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export function createPostgresWatch(options: PostgresWatchOptions): TopicWatch {
  const { connect, channel, clock, onFault } = options;
  const listeners = createTopicListeners(onFault);
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  const hear = (payload: string): void => {
    const [topic = "", count = ""] = payload.split(" ");
    listeners.told(new Map([[topic, Number(count)]]));
  };

  /** As long as one connection lives. */
  const listen = async (onListening: () => void): Promise<void> => {
    const connection = await connect(hear);
    const over = linkAbort(closing.signal);
    try {
      await connection.query(`LISTEN "${channel}"`);
      onListening();
      void connection.ended.then(() => over.abort(new Error("the connection is lost")));
      while (!over.signal.aborted) {
        const rows = await connection.query("SELECT topic, changes FROM topics");
        listeners.compare(
          new Map(rows.map((row) => [textColumn(row, "topic"), integerColumn(row, "changes")])),
        );
        await pause(clock, LOOK_EVERY_MS, over.signal);
      }
    } finally {
      over.unlink();
      await connection.end();
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        await listen(() => {
          failures = 0;
        });
      } catch (error) {
        if (failures === 0 && !closing.signal.aborted) onFault(error);
        failures += 1;
      }
      await pause(clock, Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), closing.signal);
    }
  };

  return {
    on(topic, listener) {
      if (closing.signal.aborted) return () => undefined;
      const off = listeners.on(topic, listener);
      running ??= run();
      return off;
    },
    committed: listeners.told,
    async close() {
      closing.abort();
      listeners.close();
      await running;
    },
  };
}

/** Until so much time has passed, or the signal is aborted. Keeps no process alive. */
async function pause(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.timer(pauseMs, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
