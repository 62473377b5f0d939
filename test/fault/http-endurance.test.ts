/** Ten thousand requests one after another and ten thousand at once leave sockets, timers, listeners and the heap where they were. */
import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { countRunningTimers } from "../../src/base/clock.ts";
import { event, events, json, ok, stage, type Seen } from "../support/http-stage.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use after everything that can be collected was. */
async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const TIMES = 10_000;

describe.each<[string, (seen: Seen) => unknown]>([
  ["JSON", ({ message, response }) => json(response, 200, ok(message.id, { echo: "x".repeat(100) }))],
  [
    "event streams",
    ({ message, response }) => events(response).end(event(ok(message.id, { echo: "x".repeat(100) }))),
  ],
])("%s", (_title, answer) => {
  it(`${TIMES} requests in a row, then ${TIMES} at once`, { timeout: 120_000 }, async () => {
    const { transport, sink, seen, server } = await stage(answer);
    const { signal } = new AbortController();
    let answered = 0;
    let wanted = Number.POSITIVE_INFINITY;
    let reached: () => void = () => undefined;
    // The recording sink would keep every message; the heap is what is measured here.
    sink.message = () => {
      answered += 1;
      if (answered === wanted) reached();
    };
    const until = (count: number): Promise<void> =>
      new Promise((resolve) => {
        wanted = count;
        reached = resolve;
        if (answered >= count) resolve();
      });
    const send = (id: number): Promise<void> =>
      transport.send({ jsonrpc: "2.0", id, method: "ping" }, { signal });
    const oneByOne = async (count: number): Promise<void> => {
      const target = answered + count;
      for (let at = 0; at < count; at += 1) {
        const before = answered;
        await send(at);
        await until(before + 1);
      }
      expect(answered).toBe(target);
      (seen as Seen[]).length = 0;
    };
    const atOnce = async (count: number): Promise<void> => {
      const target = answered + count;
      await Promise.all(Array.from({ length: count }, (_none, at) => send(at)));
      await until(target);
      (seen as Seen[]).length = 0;
    };

    await oneByOne(500);
    await atOnce(500);
    const before = await heapUsed();
    await oneByOne(TIMES);
    expect(await heapUsed()).toBeLessThan(before + 5_000_000);
    await atOnce(TIMES);
    expect(await heapUsed()).toBeLessThan(before + 5_000_000);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(countRunningTimers()).toBe(0);
    expect(server.connections()).toBeLessThanOrEqual(600);
    expect(await server.openConnections()).toBeLessThanOrEqual(256);
  });
});
