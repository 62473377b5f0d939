/** The breaker over a real server: what opens it, what it costs while it is open, and what closes it again. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { createPuppet } from "../support/puppet.ts";
import { startPuppetHttp, type HttpPuppet } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;
const FIVE_MINUTES_MS = 300_000;

async function start(): Promise<{
  puppet: HttpPuppet;
  open: () => Promise<Actor>;
  actor: Actor;
}> {
  const puppet = await startPuppetHttp();
  afterTest(puppet.close);
  const stage = createStage();
  const clock = createManualClock();
  const open = (): Promise<Actor> => stage.open({ server: puppet.entry }, { clock });
  return { puppet, open, actor: await open() };
}

async function write(actor: Actor, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1)
    await actor.settled(actor.host.call(WRITE, { text: `${time}` }));
}

const breakerOf = async (actor: Actor) => (await actor.status("server")).breaker;

describe("breaker", { timeout: 60_000 }, () => {
  it("opens after ten failures in a row, refuses without sending, and one probe after five minutes decides", async () => {
    const { puppet, actor } = await start();
    await puppet.pull({ at: { "tools/call": "503" } });
    await write(actor, 9);
    expect(await breakerOf(actor)).toEqual({ state: "closed", failures: 9 });
    await puppet.pull({});
    await write(actor, 1);
    expect(await breakerOf(actor)).toEqual({ state: "closed", failures: 0 });
    await puppet.pull({ at: { "tools/call": "503" } });
    await write(actor, 10);
    expect(await breakerOf(actor)).toEqual({ state: "open", failures: 10 });
    const sent = puppet.got("tools/call");
    expect(await actor.settled(actor.host.call(WRITE, {}))).toMatchObject({
      outcome: "unavailable",
      code: "breaker_open",
      effect: "none",
    });
    expect(puppet.got("tools/call")).toBe(sent);
    // Five want to go when the time is over: one goes, and its failure shuts the door again.
    await actor.pass(FIVE_MINUTES_MS);
    const probes = await actor.settled(
      Promise.all(Array.from({ length: 5 }, () => actor.host.call(WRITE, {}))),
    );
    expect(probes.map(({ code }) => code).toSorted()).toEqual([
      "breaker_open",
      "breaker_open",
      "breaker_open",
      "breaker_open",
      "http_error",
    ]);
    expect(puppet.got("tools/call")).toBe(sent + 1);
    await puppet.pull({});
    await write(actor, 3);
    expect(puppet.got("tools/call")).toBe(sent + 1);
    await actor.pass(FIVE_MINUTES_MS);
    await write(actor, 1);
    expect(await breakerOf(actor)).toEqual({ state: "closed", failures: 0 });
  });

  it("costs less than a millisecond while it is open", async () => {
    const { puppet, actor } = await start();
    await puppet.pull({ at: { "tools/call": "reset" } });
    await write(actor, 10);
    const turn = actor.host.turn();
    const medians: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const times: number[] = [];
      for (let call = 0; call < 100; call += 1) {
        const startedMs = performance.now();
        const { code } = await turn.call("server__read", {});
        times.push(performance.now() - startedMs);
        expect(code).toBe("breaker_open");
      }
      medians.push(times.toSorted((one, other) => one - other)[50] ?? Infinity);
    }
    expect(Math.min(...medians)).toBeLessThan(1);
  });

  it("is never opened by what a server answers on purpose: tool errors, JSON-RPC errors, bad arguments, 429", async () => {
    const { puppet, actor } = await start();
    for (let time = 0; time < 20; time += 1)
      await actor.settled(actor.host.call({ server: "server", tool: "fail" }, {}));
    await puppet.pull({ at: { "tools/call": "error" } });
    await write(actor, 20);
    await puppet.pull({ at: { "tools/call": "429" } });
    await write(actor, 20);
    expect(puppet.got("tools/call")).toBe(60);
    expect(await breakerOf(actor)).toEqual({ state: "closed", failures: 0 });
  });

  it("is shared through the store and still open after a restart of the host", async () => {
    const { puppet, actor, open } = await start();
    await puppet.pull({ at: { "tools/call": "503" } });
    const other = await open();
    await write(actor, 10);
    await other.pass(1_000);
    expect(await breakerOf(other)).toMatchObject({ state: "open" });
    await actor.close();
    await other.close();
    const sent = puppet.got("tools/call");
    const next = await open();
    await puppet.pull({});
    expect(await next.settled(next.host.call(WRITE, {}))).toMatchObject({ code: "breaker_open" });
    expect(puppet.got("tools/call")).toBe(sent);
    await next.host.reconnect("server");
    await next.becomes("connected", () => next.states("server").at(-1) === "ready");
    expect(await next.settled(next.host.call(WRITE, {}))).toMatchObject({ outcome: "completed" });
  });

  it("counts one dying process once, however many calls it takes along", async () => {
    const stage = createStage();
    const puppet = createPuppet(stage.dir, "server", { limits: { concurrency: 20 } });
    await puppet.pull({ at: { "tools/call": "silent" } });
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    const calls = Array.from({ length: 20 }, () => actor.host.call(WRITE, {}));
    await actor.becomes("all sent", () => puppet.called("write") === 20);
    process.kill(puppet.pid(), "SIGKILL");
    const outcomes = await actor.settled(Promise.all(calls));
    expect(new Set(outcomes.map(({ code, effect }) => `${code} ${effect}`))).toEqual(
      new Set(["process_exited unknown"]),
    );
    expect(await breakerOf(actor)).toEqual({ state: "closed", failures: 1 });
    expect(puppet.called("write")).toBe(20);
  });

  it("counts connections that cannot be made: after ten nobody tries for five minutes", async () => {
    const puppet = await startPuppetHttp();
    await puppet.close();
    const stage = createStage();
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    const codes: (string | null)[] = [];
    // Five tries with growing waits for the first call, one for each of the next.
    for (let time = 0; time < 10; time += 1) {
      const call = actor.host.call(READ, {});
      await actor.pass(time === 0 ? 20_000 : 1_000);
      codes.push((await call).code);
    }
    expect(codes).toEqual([
      ...Array.from({ length: 6 }, () => "server_unavailable"),
      ...Array.from({ length: 4 }, () => "breaker_open"),
    ]);
    expect(await breakerOf(actor)).toEqual({ state: "open", failures: 10 });
    const offered = await actor.settled(actor.host.turn().tools());
    expect(offered.filter(({ name }) => name.startsWith("server__"))).toEqual([]);
    expect(actor.states("server").filter((state) => state === "connecting")).toHaveLength(10);
  });
});
