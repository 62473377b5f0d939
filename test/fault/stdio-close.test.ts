/** The end of a server: the ladder, its group, and nothing left anywhere. */
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { countRunningTimers, systemClock } from "../../src/base/clock.ts";
import { createStdioTransport } from "../../src/transport/stdio.ts";
import { ownServer } from "../support/own-server.ts";
import { isLiving, livingMembers } from "../support/process-group.ts";
import { openStdioSession, QUICK } from "../support/stdio-session.ts";

const grandchildOf = async (session: Awaited<ReturnType<typeof openStdioSession>>): Promise<number> => {
  const message = await session.waitFor((one) => "method" in one && one.method === "grandchild");
  return Number("params" in message ? message.params?.["pid"] : Number.NaN);
};

const stderrSays = (session: Awaited<ReturnType<typeof openStdioSession>>, text: string) =>
  expect.poll(() => session.transport.stderrTail()).toContain(text);

describe("close [STDIO-08]", () => {
  it("ends a server that leaves at the end of its stdin, without a signal", async () => {
    const session = await openStdioSession(ownServer("contract-peer"));
    await session.request("echo");
    expect(await session.transport.close()).toEqual({ how: "clean" });
    expect(session.transport.exit).toEqual({ code: 0, signal: null });
    expect(await session.closed).toBeUndefined();
  });

  it("ends one that obeys SIGTERM only", async () => {
    const session = await openStdioSession(ownServer("stdio-obeys-sigterm"));
    expect(await session.transport.close()).toEqual({ how: "terminated" });
    expect(livingMembers(session.transport.pid)).toEqual([]);
  });

  it("ends one that obeys nothing", async () => {
    const session = await openStdioSession(ownServer("stdio-stubborn"));
    await stderrSays(session, "ready");
    expect(await session.transport.close()).toEqual({ how: "killed" });
    expect(session.transport.exit?.signal).toBe("SIGKILL");
    expect(livingMembers(session.transport.pid)).toEqual([]);
  });

  for (const how of ["stay", "job-control"]) {
    it(`resolves when a stubborn grandchild that holds stdout is gone too (${how})`, async () => {
      const session = await openStdioSession(ownServer("stdio-grandchild", [how]));
      const pid = await grandchildOf(session);
      await stderrSays(session, "ready");
      expect(isLiving(pid)).toBe(true);
      expect(await session.transport.close()).toEqual({ how: "killed" });
      expect(isLiving(pid)).toBe(false);
      expect(livingMembers(session.transport.pid)).toEqual([]);
    });
  }

  it("writes out what was handed over in the same tick, then closes", async () => {
    const session = await openStdioSession(ownServer("stdio-exits", ["9"]));
    const sent = session.transport.send({ jsonrpc: "2.0", method: "notifications/cancelled" }, {});
    const closing = session.transport.close();
    await sent;
    await closing;
    expect(session.transport.exit).toEqual({ code: 9, signal: null });
  });

  it("is called by its own sink without harm", async () => {
    const session = await openStdioSession(ownServer("stdio-answers-and-exits"));
    const first = session.waitFor(() => true);
    void session.request("a").catch(() => undefined);
    await first.then(() => session.transport.close());
    expect(session.timesClosed()).toBe(1);
  });

  it("takes back a message that still waits when its signal aborts, and refuses the rest as not sent", async () => {
    const session = await openStdioSession(ownServer("stdio-deaf"));
    const params = { text: "x".repeat(1_000_000) };
    const first = session.transport.send({ jsonrpc: "2.0", id: 1, method: "a", params }, {});
    const abort = new AbortController();
    const second = session.transport.send({ jsonrpc: "2.0", id: 2, method: "a" }, { signal: abort.signal });
    const third = session.transport.send({ jsonrpc: "2.0", id: 3, method: "a" }, { signal: abort.signal });
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    await expect(third).rejects.toThrow("no longer wanted");
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    const fourth = session.transport.send({ jsonrpc: "2.0", id: 4, method: "a" }, {});
    const order: string[] = [];
    fourth.catch((error) => order.push(`refused ${error.data["wasSent"]}`));
    void session.closed.then(() => order.push("closed"));
    await session.transport.close();
    await first;
    expect(order).toEqual(["refused false", "closed"]);
  });

  it("leaves listeners, timers and handles where they were after 100 rounds", async () => {
    const round = async (): Promise<void> => {
      const transport = createStdioTransport({
        ...ownServer("contract-peer"),
        clock: systemClock,
        terminate: QUICK,
      });
      const answered = Promise.withResolvers<void>();
      const signal = new AbortController().signal;
      const sink = { message: () => answered.resolve(), requestFailed() {}, closed() {}, odd() {} };
      await transport.open(sink, signal);
      await transport.send({ jsonrpc: "2.0", id: 1, method: "echo" }, { signal });
      await answered.promise;
      await transport.close();
      expect(getEventListeners(signal, "abort")).toEqual([]);
    };
    const count = () => ({
      listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
      timers: countRunningTimers(),
      resources: process.getActiveResourcesInfo().filter((name) => /Pipe|Process|Socket/.test(name)).length,
    });
    await round();
    await expect.poll(count).toEqual(count());
    const before = count();
    for (let at = 0; at < 20; at += 1) await Promise.all([round(), round(), round(), round(), round()]);
    await expect.poll(count).toEqual(before);
  }, 60_000);
});
