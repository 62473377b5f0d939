/** Silence, and what is made of it: heartbeats per era, servers that are busy, servers that nobody uses. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";
import type { Puppet, PuppetControl } from "../support/puppet.ts";

const READ = { server: "server", tool: "read" } as const;
const MINUTE_MS = 60_000;

async function start(
  control: PuppetControl,
  more: Record<string, string | Record<string, string>> = {},
): Promise<{ actor: Actor; puppet: Puppet }> {
  const stage = createStage();
  const puppet = stage.puppet("server", more);
  puppet.pull(control);
  const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
  expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
  return { actor, puppet };
}

describe("heartbeat", { timeout: 60_000 }, () => {
  it("asks after a minute of silence, in the words of the era: a modern server is never pinged [DEP-21, DEP-22]", async () => {
    for (const [era, asks, never] of [
      ["legacy", "ping", "server/discover"],
      ["modern", "server/discover", "ping"],
    ] as const) {
      const { actor, puppet } = await start({ era });
      const before = puppet.got(never);
      const asked = puppet.got(asks);
      await actor.pass(4 * MINUTE_MS);
      expect(puppet.got(asks) - asked).toBeGreaterThanOrEqual(3);
      expect(puppet.got(asks) - asked).toBeLessThanOrEqual(4);
      expect(puppet.got(never)).toBe(before);
      expect(puppet.got(never === "ping" ? "ping" : "initialize")).toBe(never === "ping" ? 0 : 1);
      expect(await actor.status("server")).toMatchObject({
        state: "ready",
        restarts: 0,
        lastHealthCheck: { ok: true },
      });
      await actor.close();
    }
  });

  it("a legacy server that knows no `ping` lives: an error is an answer", async () => {
    const { actor, puppet } = await start({ at: { ping: "unknown" } });
    await actor.pass(4 * MINUTE_MS);
    expect(puppet.got("ping")).toBeGreaterThanOrEqual(3);
    expect(actor.states("server")).toEqual(["connecting", "ready"]);
  });

  it("a silent dead server is noticed within four minutes, degraded first, and started anew [DEP-21]", async () => {
    const { actor, puppet } = await start({});
    puppet.pull({ at: { ping: "silent" } });
    await actor.pass(2 * MINUTE_MS);
    expect(await actor.status("server")).toMatchObject({
      state: "degraded",
      lastHealthCheck: { ok: false },
    });
    await actor.pass(2 * MINUTE_MS, { until: () => actor.states("server").includes("backing-off") });
    expect(actor.states("server")).toEqual(["connecting", "ready", "degraded", "backing-off"]);
    puppet.pull({});
    await actor.pass(10_000, { until: () => actor.states("server").at(-1) === "ready" });
    expect(puppet.starts()).toBe(2);
  });

  it("a busy server is not asked while it talks, and not killed while a call may take its time", async () => {
    const { actor, puppet } = await start({}, { limits: { timeout: "10m", total: "15m" } });
    // Tells progress for minutes: the call goes on, nobody asks.
    puppet.pull({ at: { ping: "silent" }, pauseMs: 50, steps: 60 });
    const talking = actor.host.call({ server: "server", tool: "stream" }, {});
    await actor.becomes("sent", () => puppet.called("stream") === 1);
    await actor.pass(3 * MINUTE_MS);
    expect(puppet.got("ping")).toBe(0);
    expect(await actor.settled(talking)).toMatchObject({ outcome: "completed" });
    // Says nothing at all for six minutes, also not to a ping: within the limits that the operator gave.
    puppet.pull({ at: { ping: "silent", "tools/call": "slow" }, slowMs: 6_000 });
    const silent = actor.host.call(READ, {});
    await actor.becomes("sent", () => puppet.called("read") === 2);
    await actor.pass(6 * MINUTE_MS);
    expect(actor.states("server").at(-1)).toBe("degraded");
    expect(await actor.settled(silent)).toMatchObject({ outcome: "completed" });
    expect(puppet.starts()).toBe(1);
    // Nothing runs any more: the next miss is the last.
    await actor.pass(4 * MINUTE_MS, { until: () => actor.states("server").includes("backing-off") });
    expect(actor.states("server")).toContain("backing-off");
  });

  it("a process that nobody used for so long is stopped, and comes back with the next call", async () => {
    const { actor, puppet } = await start({}, { idleStop: "5m" });
    const pid = puppet.pid();
    await actor.pass(5 * MINUTE_MS + 1_000);
    await actor.becomes("idle", () => actor.states("server").at(-1) === "idle");
    expect(() => process.kill(pid, 0)).toThrow();
    expect(await actor.status("server")).toMatchObject({ state: "idle", next: "starts with the next call" });
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    expect(puppet.starts()).toBe(2);
  });

  it("so is a remote session: it is given back, nobody asks for its life any more, and the next call opens another", async () => {
    const puppet = await startPuppetHttp({ idleStop: "5m" });
    afterTest(puppet.close);
    const actor = await createStage().open({ server: puppet.entry }, { clock: createManualClock() });
    await actor.settled(actor.host.call(READ, {}));
    await actor.pass(5 * MINUTE_MS + 1_000);
    await actor.becomes("idle", () => actor.states("server").at(-1) === "idle");
    const asked = puppet.got("ping");
    await actor.pass(5 * MINUTE_MS);
    expect(puppet.got("ping")).toBe(asked);
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    expect(puppet.got("initialize")).toBe(2);
  });
});
