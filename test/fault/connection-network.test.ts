/** A network that resets, loses, delays and cuts: recovery without a restart of the host, nothing written twice, no storm of attempts. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { startPuppetHttp, type HttpPuppet } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;
const MINUTE_MS = 60_000;

interface Setting {
  readonly puppet: HttpPuppet;
  readonly proxy: TcpProxy;
  readonly actor: Actor;
}

async function start(era: "legacy" | "modern", more: JsonObject = {}): Promise<Setting> {
  const puppet = await startPuppetHttp();
  afterTest(puppet.close);
  await puppet.pull({ era });
  const proxy = await startTcpProxy(puppet.url);
  afterTest(proxy.close);
  const stage = createStage();
  const entry = { ...puppet.entry, url: proxy.url.href, ...more };
  const actor = await stage.open({ server: entry }, { clock: createManualClock() });
  expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
  return { puppet, proxy, actor };
}

describe.each(["legacy", "modern"] as const)("the network, %s era", { timeout: 60_000 }, (era) => {
  it("is lost for ten minutes and comes back: the first call after it is answered", async () => {
    for (const weather of ["refused", "reset"] as const) {
      const { puppet, proxy, actor } = await start(era);
      await proxy.weather(weather);
      const before = proxy.attempts();
      const outcomes = new Set<string>();
      for (let minute = 0; minute < 10; minute += 1) {
        for (let time = 0; time < 6; time += 1) {
          const call = actor.host.call(time % 2 === 0 ? READ : WRITE, { text: "lost" });
          await actor.pass(5_000);
          const { outcome, effect, grade } = await call;
          outcomes.add(`${outcome} ${grade === "L0" ? effect : "write"}`);
          await actor.pass(5_000);
        }
      }
      expect(outcomes).toEqual(new Set(["unavailable none", "unavailable write"]));
      // For sixty calls, some of which may be tried three times. While refused none is counted.
      expect(proxy.attempts() - before).toBeLessThan(25);
      expect((await actor.status("server")).state).not.toBe("ready");
      await proxy.weather("fine");
      await actor.pass(5 * MINUTE_MS);
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
      expect(await actor.settled(actor.host.call(WRITE, { text: "after" }))).toMatchObject({
        effect: "applied",
      });
      expect(puppet.applied).toEqual(["after"]);
      await actor.close();
    }
  });

  it("swallows everything: a time-out that names both limits, then a new connection when it is back", async () => {
    const { puppet, proxy, actor } = await start(era, { limits: { timeout: "20s", total: "1m" } });
    await proxy.weather("black-hole");
    const before = proxy.attempts();
    const write = actor.host.call(WRITE, { text: "swallowed" });
    await actor.pass(25_000);
    expect(await write).toMatchObject({
      outcome: "timed_out",
      effect: "unknown",
      message: expect.stringContaining("20 s without progress, 60 s in all"),
    });
    await actor.pass(4 * MINUTE_MS, { until: () => actor.states("server").includes("backing-off") });
    expect(actor.states("server")).toEqual(["connecting", "ready", "degraded", "backing-off"]);
    expect(proxy.attempts() - before).toBeLessThan(10);
    await proxy.weather("fine");
    await actor.pass(2 * MINUTE_MS, { until: () => actor.states("server").at(-1) === "ready" });
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    expect(puppet.applied).toEqual([]);
  });

  it("cuts answers in the middle: what reads is asked again, what writes never", async () => {
    const { puppet, proxy, actor } = await start(era);
    await proxy.weather("half-closed");
    const write = actor.host.call(WRITE, { text: "once" });
    await actor.pass(2_000);
    expect(await write).toMatchObject({ outcome: "unavailable", effect: "unknown", attempts: 1 });
    const read = actor.host.call(READ, {});
    await actor.pass(300);
    await proxy.weather("fine");
    await actor.pass(10_000);
    expect(await read).toMatchObject({ outcome: "completed" });
    expect((await read).attempts).toBeGreaterThan(1);
    expect(puppet.called("write")).toBe(1);
    expect(puppet.applied).toEqual(["once"]);
  });

  it("is slow: calls take longer, nothing is called dead", async () => {
    const { proxy, actor } = await start(era);
    await proxy.weather({ delayMs: 150 });
    for (let time = 0; time < 3; time += 1)
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({
        outcome: "completed",
        attempts: 1,
      });
    expect(actor.states("server")).toEqual(["connecting", "ready"]);
  });
});
