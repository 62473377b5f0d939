import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { createPostgresWatch, type ListeningConnection } from "../../../src/store/postgres-watch.ts";
import type { TopicWatch } from "../../../src/store/topic-listeners.ts";

/** A server of counters; its connections can be lost, and refused. */
function createServer(): {
  readonly counters: Map<string, number>;
  readonly connect: (onNotification: (payload: string) => void) => Promise<ListeningConnection>;
  notify: (payload: string) => void;
  lose: () => void;
  isAway: boolean;
  connected: number;
} {
  const server = {
    counters: new Map<string, number>(),
    isAway: false,
    connected: 0,
    notify: (_payload: string): void => undefined,
    lose: (): void => undefined,
    connect(onNotification: (payload: string) => void): Promise<ListeningConnection> {
      if (server.isAway) return Promise.reject(new Error("nobody listens"));
      server.connected += 1;
      server.notify = onNotification;
      const ended = Promise.withResolvers<void>();
      server.lose = ended.resolve;
      return Promise.resolve({
        ended: ended.promise,
        query: (sql) =>
          Promise.resolve(
            sql.startsWith("LISTEN")
              ? []
              : [...server.counters].map(([topic, changes]) => ({ topic, changes })),
          ),
        end: () => {
          ended.resolve();
          return Promise.resolve();
        },
      });
    },
  };
  return server;
}

describe("watching a database", () => {
  const open = (): {
    server: ReturnType<typeof createServer>;
    clock: ManualClock;
    watch: TopicWatch;
    faults: unknown[];
    told: () => number;
  } => {
    const server = createServer();
    const clock = createManualClock();
    const faults: unknown[] = [];
    let count = 0;
    const watch = createPostgresWatch({
      connect: server.connect,
      channel: "portcullis",
      clock,
      onFault: (error) => faults.push(error),
    });
    watch.on("pins", () => {
      count += 1;
    });
    return { server, clock, watch, faults, told: () => count };
  };

  it("tells of a notification once, also where the commit was its own", async () => {
    const { server, clock, watch, told } = open();
    await clock.advance(0);
    expect(told()).toBe(0);
    server.notify("pins 1");
    await clock.advance(0);
    expect(told()).toBe(1);
    server.counters.set("pins", 2);
    await clock.advance(5_000);
    expect(told()).toBe(2);
    watch.committed(new Map([["pins", 3]]));
    server.notify("pins 3");
    server.notify("trust 9");
    await clock.advance(0);
    expect(told()).toBe(3);
    server.counters.set("pins", 3);
    server.counters.set("trust", 9);
    await clock.advance(20_000);
    expect(told()).toBe(3);
    await watch.close();
  });

  it("tells what was missed while the connection was away, and reports an outage once", async () => {
    const { server, clock, watch, told, faults } = open();
    server.counters.set("pins", 4);
    await clock.advance(5_000);
    const before = told();
    server.isAway = true;
    server.lose();
    await clock.advance(60_000);
    server.counters.set("pins", 5);
    expect(faults).toHaveLength(1);
    expect(told()).toBe(before);
    server.isAway = false;
    await clock.advance(5_000);
    expect([server.connected, told()]).toEqual([2, before + 1]);
    await watch.close();
    await clock.advance(60_000);
    expect(server.connected).toBe(2);
  });
});
