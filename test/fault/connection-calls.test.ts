/** Single calls when things go wrong: their limits, answers that come late, waiting, giving up, budgets. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { PUPPET_GRADES, type Puppet, type PuppetControl } from "../support/puppet.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor, type Stage } from "../support/stage.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;
const STREAM = { server: "server", tool: "stream" } as const;

interface Setting {
  readonly stage: Stage;
  readonly puppet: Puppet;
  readonly actor: Actor;
}

async function start(control: PuppetControl = {}, more: JsonObject = {}): Promise<Setting> {
  const stage = createStage();
  const puppet = stage.puppet("server", more);
  const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
  expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
  puppet.pull(control);
  return { stage, puppet, actor };
}

const activity = async (actor: Actor, tool: string) =>
  (await actor.settled(actor.host.activity())).find((call) => call.tool === tool);

describe("limits of a call", { timeout: 60_000 }, () => {
  it("progress extends the idle limit, the absolute one holds all the same; both are named [CAN-07, CAN-10, TOOL-11]", async () => {
    const { puppet, actor } = await start(
      { at: { stream: "silent" }, pauseMs: 40, steps: 80 },
      { limits: { timeout: "30s", total: "2m" } },
    );
    const told: number[] = [];
    const call = actor.host.call(STREAM, {}, { onProgress: ({ progress }) => told.push(progress) });
    await actor.becomes("sent", () => puppet.called("stream") === 1);
    await actor.pass(90_000);
    expect(told.length).toBeGreaterThan(3);
    await actor.pass(31_000);
    const outcome = await call;
    expect(outcome).toMatchObject({ outcome: "timed_out", code: "timed_out", attempts: 1 });
    expect(outcome.message).toContain("30 s without progress, 120 s in all");
  });

  it("is given up without progress, cancelled on the wire, and never sent again, also not after a restart [CAN-03, CAN-08]", async () => {
    const { stage, puppet, actor } = await start({ at: { "tools/call": "silent" } });
    const call = actor.host.call(WRITE, { text: "x" });
    await actor.becomes("sent", () => puppet.called("write") === 1);
    await actor.pass(31_000);
    expect(await call).toMatchObject({
      outcome: "timed_out",
      effect: "unknown",
      attempts: 1,
      message: expect.stringContaining("30 s without progress, 600 s in all"),
    });
    await actor.becomes("cancelled", () => puppet.lines().some((line) => line.cancelled !== undefined));
    await actor.close();
    puppet.pull({});
    const next = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    expect(await next.settled(next.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    await next.pass(60_000);
    expect(puppet.called("write")).toBe(1);
    expect(await activity(next, "write")).toMatchObject({ outcome: "timed_out", effect: "unknown" });
  });

  it("an answer that comes too late is recorded as such, and goes to nobody else [CAN-05, CAN-06]", async () => {
    const { puppet, actor } = await start({ at: { "tools/call": "slow" }, slowMs: 900 });
    const late = actor.host.call(WRITE, { text: "late" });
    await actor.becomes("sent", () => puppet.called("write") === 1);
    await actor.pass(31_000);
    expect(await late).toMatchObject({ outcome: "timed_out", effect: "unknown" });
    puppet.pull({});
    const other = await actor.settled(actor.host.call(WRITE, { text: "other" }));
    expect(other.content).toEqual([{ type: "text", text: "write other" }]);
    await actor.becomes("told", () => actor.of("call.answered-late").length === 1);
    await actor.pass(1_000);
    const calls = await actor.settled(actor.host.activity());
    expect(
      calls.filter(({ tool }) => tool === "write").map(({ outcome, effect }) => [outcome, effect]),
    ).toEqual(
      expect.arrayContaining([
        ["timed_out", "applied"],
        ["completed", "applied"],
      ]),
    );
    expect(actor.of("call.answered-late")).toHaveLength(1);
  });

  it("an error that comes too late leaves it unknown", async () => {
    const { puppet, actor } = await start(
      { at: { "tools/call": "slow" }, slowMs: 900 },
      { tools: { ...PUPPET_GRADES, fail: "L1" } },
    );
    const call = actor.host.call({ server: "server", tool: "fail" }, {});
    await actor.becomes("sent", () => puppet.called("fail") === 1);
    await actor.pass(31_000);
    expect(await call).toMatchObject({ outcome: "timed_out", effect: "unknown" });
    await actor.becomes("told", () => actor.of("call.answered-late").length > 0);
    await actor.pass(1_000);
    expect(await activity(actor, "fail")).toMatchObject({ outcome: "timed_out", effect: "unknown" });
  });
});

describe("waiting", { timeout: 60_000 }, () => {
  it("for a connection is not counted as time of the call, holds no place, and has its own cap", async () => {
    const { puppet, actor } = await start(
      { at: { initialize: "silent", "server/discover": "silent" } },
      { limits: { connect: "20s", total: "5s", concurrency: 1 } },
    );
    process.kill(puppet.pid(), "SIGKILL");
    await actor.becomes("lost", () => actor.states("server").at(-1) === "backing-off");
    const startedMs = Date.now();
    const waiting = [1, 2, 3].map(async () => actor.host.call(WRITE, {}));
    await actor.pass(22_000, { isBusy: () => false });
    const outcomes = await actor.settled(Promise.all(waiting));
    expect(Date.now() - startedMs).toBeLessThan(20_000);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ outcome: "unavailable", effect: "none", attempts: 0 });
      expect(outcome.message).toMatch(/was not ready within 20 s: it is (connecting|backing-off)/);
    }
    // Ten seconds of waiting, and the call itself still has its five.
    puppet.pull({});
    const call = actor.host.call(WRITE, {});
    await actor.pass(60_000, { until: () => puppet.called("write") === 1 });
    expect(await actor.settled(call)).toMatchObject({ outcome: "completed", effect: "applied" });
    expect(puppet.called("write")).toBe(1);
  });

  it("a full queue is told at once with effect none, and whoever gives up leaves it", async () => {
    const { puppet, actor } = await start({ at: { "tools/call": "silent" } }, { limits: { concurrency: 1 } });
    const running = actor.host.call(WRITE, { text: "running" });
    await actor.becomes("sent", () => puppet.called("write") === 1);
    const giveUp = new AbortController();
    const leaving = actor.host.call(WRITE, { text: "leaving" }, { signal: giveUp.signal });
    const queue = Array.from({ length: 255 }, () => actor.host.call(WRITE, { text: "queued" }));
    // Calls stand in the queue in the order in which they were made.
    expect(await actor.settled(actor.host.call(WRITE, { text: "too many" }))).toMatchObject({
      outcome: "unavailable",
      code: "queue_full",
      effect: "none",
    });
    giveUp.abort();
    expect(await actor.settled(leaving)).toMatchObject({ outcome: "cancelled", effect: "none" });
    puppet.pull({});
    await actor.pass(31_000);
    expect(await running).toMatchObject({ outcome: "timed_out", effect: "unknown" });
    const done = await actor.settled(Promise.all(queue));
    expect(new Set(done.map(({ outcome }) => outcome))).toEqual(new Set(["completed"]));
    expect(puppet.called("write")).toBe(256);
  });

  it.each(["429", "503"] as const)(
    "what a %s asks to wait holds all calls to that server, and no other",
    async (status) => {
      const puppet = await startPuppetHttp();
      afterTest(puppet.close);
      const other = await startPuppetHttp();
      afterTest(other.close);
      const clock = createManualClock();
      const stage = createStage();
      const actor = await stage.open({ server: puppet.entry, other: other.entry }, { clock });
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
      await puppet.pull({ at: { "tools/call": status }, retryAfter: "90" });
      expect(await actor.settled(actor.host.call(WRITE, { text: "one" }))).toMatchObject({
        outcome: "unavailable",
      });
      await puppet.pull({});
      const got = puppet.got("tools/call");
      // A read has its last good result, a write is told when.
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ stale: {}, effect: "none" });
      const held = await actor.settled(actor.host.call(WRITE, { text: "two" }));
      expect(held).toMatchObject({
        outcome: "unavailable",
        code: "server_unavailable",
        effect: "none",
        attempts: 0,
      });
      expect(held.message).toMatch(
        /^`server` asked to be left alone for another (90|89) s, until \d\d:\d\d:\d\d UTC$/,
      );
      expect(held.model).toMatch(/Not before (90|89) seconds from now/);
      expect(puppet.got("tools/call")).toBe(got);
      const elsewhere = await actor.settled(actor.host.call({ server: "other", tool: "read" }, {}));
      expect(elsewhere).toMatchObject({ outcome: "completed" });
      await actor.pass(90_000);
      expect(await actor.settled(actor.host.call(WRITE, { text: "three" }))).toMatchObject({
        effect: "applied",
      });
      expect(puppet.applied).toEqual(["three"]);
    },
  );

  it("`reconnect` ends what a server asked to wait", async () => {
    const puppet = await startPuppetHttp();
    afterTest(puppet.close);
    const actor = await createStage().open({ server: puppet.entry });
    await puppet.pull({ at: { "tools/call": "429" }, retryAfter: "90" });
    expect(await actor.host.call(WRITE, { text: "one" })).toMatchObject({ code: "rate_limited" });
    await puppet.pull({});
    expect(await actor.host.call(WRITE, { text: "two" })).toMatchObject({ code: "server_unavailable" });
    await actor.host.reconnect("server");
    expect(await actor.host.call(WRITE, { text: "three" })).toMatchObject({ effect: "applied" });
  });

  it("calls per minute are counted per tool and principal", async () => {
    const { actor } = await start({}, { limits: { perMinute: 3 } });
    const call = async (principal: string, tool: string) =>
      (await actor.settled(actor.host.call({ server: "server", tool }, {}, { principal }))).code;
    const alice = [await call("alice", "read"), await call("alice", "read"), await call("alice", "read")];
    expect(alice).toEqual([null, null, null]);
    expect(await call("alice", "read")).toBe("rate_limited");
    expect([await call("alice", "write"), await call("bob", "read")]).toEqual([null, null]);
    await actor.pass(60_000);
    expect(await call("alice", "read")).toBeNull();
  });
});

describe("giving up", { timeout: 60_000 }, () => {
  it("cancelling a running call cancels it on the wire and leaves its effect unknown; closing a turn ends what it runs", async () => {
    const { puppet, actor } = await start({ at: { "tools/call": "silent" } });
    const giveUp = new AbortController();
    const one = actor.host.call(WRITE, { text: "one" }, { signal: giveUp.signal });
    const turn = actor.host.turn();
    const two = turn.call("server__write", { text: "two" });
    await actor.becomes("sent", () => puppet.called("write") === 2);
    giveUp.abort();
    await actor.settled(turn.close());
    for (const call of [one, two])
      expect(await actor.settled(call)).toMatchObject({ outcome: "cancelled", effect: "unknown" });
    await actor.becomes(
      "told",
      () => puppet.lines().filter((line) => line.cancelled !== undefined).length === 2,
    );
    expect((await actor.status("server")).state).toBe("ready");
  });

  it("twenty failing reads of one turn send twenty-five requests at most; another turn has its own budget", async () => {
    const { puppet, actor } = await start(
      { at: { "tools/call": "silent" } },
      { limits: { timeout: "1s", concurrency: 20 } },
    );
    const before = puppet.called("read");
    const turn = actor.host.turn();
    const calls = Array.from({ length: 20 }, () => turn.call("server__read", {}));
    await actor.pass(30_000);
    const outcomes = await actor.settled(Promise.all(calls));
    expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(["timed_out", "breaker_open"]));
    expect(puppet.called("read") - before).toBeLessThanOrEqual(25);
    await actor.host.reconnect("server");
    await actor.pass(5_000, { until: () => actor.states("server").at(-1) === "ready" });
    const next = actor.host.turn().call("server__read", {});
    await actor.pass(20_000);
    expect(await next).toMatchObject({ outcome: "timed_out", attempts: 3 });
  });

  it("the kill switch stops what was decided already, and resuming lets the next one through", async () => {
    const { puppet, actor } = await start({ at: { "tools/call": "silent" } }, { limits: { concurrency: 1 } });
    const sent = actor.host.call(WRITE, { text: "sent" });
    await actor.becomes("sent", () => puppet.called("write") === 1);
    const queued = actor.host.call(WRITE, { text: "queued" });
    await actor.settled(actor.host.pause("server", "alice"));
    expect(await actor.settled(sent)).toMatchObject({ effect: "unknown" });
    expect(await actor.settled(queued)).toMatchObject({ code: "server_paused", effect: "none" });
    expect(await actor.status("server")).toMatchObject({ state: "paused" });
    await actor.host.reconnect("server");
    await actor.pass(5_000);
    puppet.pull({});
    expect(puppet.starts()).toBe(1);
    await actor.settled(actor.host.resume("server", "alice"));
    expect(await actor.status("server")).toMatchObject({ state: "idle", reason: "resumed" });
    expect(await actor.settled(actor.host.call(WRITE, {}))).toMatchObject({ outcome: "completed" });
    expect(puppet.called("write")).toBe(2);
  });
});
