/** Lists that change, grow stale or storm; eras that are remembered and turn out wrong; configurations that are taken over. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { compileConfig } from "../../src/config/compile.ts";
import type { Config } from "../../src/config/compiled.ts";
import { thisProcess } from "../../src/config/this-process.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { PUPPET_GRADES } from "../support/puppet.ts";
import { afterTest, createStage, type Actor, type Stage } from "../support/stage.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;
const MINUTE_MS = 60_000;
const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });
/** As the puppet defines it by itself. */
const READ_TOOL: JsonObject = {
  name: "read",
  description: "Reads.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
};

const toolNames = async (actor: Actor): Promise<string[]> =>
  (await actor.settled(actor.host.tools({ server: "server" }))).map((one) => one.tool);

describe("lists", { timeout: 60_000 }, () => {
  it.each(["legacy", "modern"] as const)(
    "a %s server that says so is listed again soon, once for a burst, and again after a restart [STDIO-10]",
    async (era) => {
      const stage = createStage();
      const puppet = stage.puppet("server");
      await puppet.pull({ era, listChanged: true });
      const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
      await actor.settled(actor.host.call(READ, {}));
      expect(puppet.got("subscriptions/listen")).toBe(era === "modern" ? 1 : 0);
      expect(puppet.got("tools/list")).toBe(1);
      await puppet.pull({ era, listChanged: true, changed: 500, tools: [READ_TOOL, tool("fresh")] });
      await actor.settled(actor.host.call(READ, {}));
      await actor.becomes("listed", () => puppet.got("tools/list") === 2);
      await actor.pass(10_000);
      expect(puppet.got("tools/list")).toBeLessThanOrEqual(3);
      expect(await toolNames(actor)).toContain("fresh");
      // The stream is a thing of the process: another one is listened to anew.
      process.kill(puppet.pid(), "SIGKILL");
      await actor.becomes("lost", () => actor.states("server").at(-1) !== "ready");
      await actor.pass(10_000, { until: () => actor.states("server").at(-1) === "ready" });
      expect(puppet.got("subscriptions/listen")).toBe(era === "modern" ? 2 : 0);
      const listed = puppet.got("tools/list");
      await puppet.pull({ era, listChanged: true, changed: 1, tools: [READ_TOOL, tool("later")] });
      await actor.pass(31_000);
      await actor.settled(actor.host.call(READ, {}));
      await actor.becomes("listed", () => puppet.got("tools/list") > listed);
      await actor.pass(1_000);
      expect(await toolNames(actor)).toContain("later");
    },
  );

  it.each(["legacy", "modern"] as const)(
    "a call waits for the list that a %s server announced: a changed tool is held before it is called, a new one is found",
    async (era) => {
      const stage = createStage();
      const puppet = stage.puppet("server", { tools: { ...PUPPET_GRADES, "*": "L1" } });
      puppet.pull({ era, listChanged: true });
      const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
      await actor.settled(actor.host.call(READ, {}));
      const posts = { name: "write", description: "Writes, and posts it.", inputSchema: { type: "object" } };
      puppet.pull({ era, listChanged: true, changed: 1, tools: [READ_TOOL, posts, tool("fresh")] });
      await actor.settled(actor.host.call(READ, {}));
      puppet.pull({ era, listChanged: true, tools: [READ_TOOL, posts, tool("fresh")] });
      expect(await actor.settled(actor.host.call(WRITE, { text: "one" }))).toMatchObject({
        code: "tool_changed",
        effect: "none",
      });
      puppet.pull({ era, listChanged: true, changed: 1, tools: [READ_TOOL, tool("fresh"), tool("later")] });
      await actor.settled(actor.host.call(READ, {}));
      const later = await actor.settled(actor.host.explain({ server: "server", tool: "later" }, {}));
      expect(later.exposedName).toBe("server__later");
      expect(puppet.called("write")).toBe(0);
    },
  );

  it("a list that is announced and then not told delays a call by 5 s at most, and is told", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    puppet.pull({ listChanged: true });
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    await actor.settled(actor.host.call(READ, {}));
    puppet.pull({ listChanged: true, changed: 1 });
    await actor.settled(actor.host.call(READ, {}));
    puppet.pull({ listChanged: true, at: { "tools/list": "silent" } });
    const call = actor.host.call(READ, {});
    await actor.pass(5_000);
    expect(await actor.settled(call)).toMatchObject({ outcome: "completed" });
    expect(actor.of("finding.raised").map(({ finding }) => finding.rule)).toContain("catalog.change-unread");
  });

  it("a list is listed again when it is used after its time, and never by itself [CCH-07, CCH-08, SUB-11]", async () => {
    for (const [ttlMs, staleMs] of [
      [5_000, 6_000],
      [0, 61_000],
    ] as const) {
      const stage = createStage();
      const puppet = stage.puppet("server");
      await puppet.pull({ era: "modern", ttlMs });
      const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
      await actor.settled(actor.host.call(READ, {}));
      await actor.pass(1_000);
      await actor.settled(actor.host.call(READ, {}));
      await actor.pass(2_000);
      expect(puppet.got("tools/list")).toBe(1);
      await actor.pass(2 * MINUTE_MS);
      expect(puppet.got("tools/list")).toBe(1);
      await puppet.pull({ era: "modern", ttlMs, tools: [READ_TOOL, tool("fresh")] });
      await actor.settled(actor.host.call(READ, {}));
      await actor.becomes("listed", () => puppet.got("tools/list") === 2);
      await actor.pass(staleMs);
      // Offering the tools to a model is a use as well.
      await actor.settled(actor.host.turn().tools());
      await actor.becomes("listed", () => puppet.got("tools/list") === 3);
      expect(await toolNames(actor)).toContain("fresh");
      await actor.close();
    }
  });
});

describe("eras", { timeout: 60_000 }, () => {
  it.each([
    ["modern", "legacy"],
    ["legacy", "modern"],
  ] as const)(
    "a server that was %s and is %s now is found out, over a restart of the host",
    async (was, is) => {
      const stage = createStage();
      const puppet = stage.puppet("server");
      for (const era of [was, was, is, is]) {
        await puppet.pull({ era });
        const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
        const call = actor.host.call(READ, {});
        await actor.pass(30_000, { until: () => actor.states("server").at(-1) === "ready" });
        expect(await actor.settled(call)).toMatchObject({ outcome: "completed" });
        expect(await actor.status("server")).toMatchObject({ state: "ready", era });
        await actor.close();
      }
    },
  );

  it("a remembered era that is not even refused is forgotten: the next start asks anew", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server", { limits: { connect: "10s" } });
    await puppet.pull({ era: "legacy" });
    const clock = createManualClock();
    const first = await stage.open({ server: puppet.entry }, { clock });
    await first.settled(first.host.call(READ, {}));
    await first.close();
    // Modern now, and deaf to the words of before.
    await puppet.pull({ era: "modern", at: { initialize: "silent" } });
    const actor = await stage.open({ server: puppet.entry }, { clock });
    const waiting = actor.host.call(READ, {});
    await actor.pass(15_000, { isBusy: () => puppet.starts() === 3, until: () => puppet.starts() === 3 });
    await actor.pass(5_000, { until: () => actor.states("server").at(-1) === "ready" });
    await actor.settled(waiting);
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    expect((await actor.status("server")).era).toBe("modern");
  });

  it.each([
    [["1999-01-01"], "upgrade the server"],
    [["2031-01-01", "2032-01-01"], "upgrade Portcullis"],
  ])(
    "nothing in common (%j): names both sides' versions and what to upgrade, and is not tried again",
    async (versions, advice) => {
      const stage = createStage();
      const puppet = stage.puppet("server");
      await puppet.pull({ era: "none", versions });
      const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
      const outcome = await actor.settled(actor.host.call(READ, {}));
      expect(outcome).toMatchObject({ outcome: "unavailable", code: "incompatible", effect: "none" });
      for (const part of [...versions, "2026-07-28", "2025-11-25", advice])
        expect(outcome.message).toContain(part);
      expect(await actor.status("server")).toMatchObject({
        state: "incompatible",
        next: "needs an upgrade, then `portcullis reconnect`",
      });
      const starts = puppet.starts();
      await actor.pass(2 * MINUTE_MS);
      await actor.settled(actor.host.call(READ, {}));
      expect(puppet.starts()).toBe(starts);
      await puppet.pull({});
      await actor.host.reconnect("server");
      await actor.becomes("ready", () => actor.states("server").at(-1) === "ready");
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    },
  );
});

describe("taking over a configuration", { timeout: 60_000 }, () => {
  it("touches only servers whose start would differ; grades and limits count from the next call on", async () => {
    const stage = createStage();
    const kept = stage.puppet("kept");
    const graded = stage.puppet("graded");
    const moved = stage.puppet("moved");
    const gone = stage.puppet("gone");
    const fresh = stage.puppet("fresh", { connect: "eager" });
    const before = { kept: kept.entry, graded: graded.entry, moved: moved.entry, gone: gone.entry };
    const actor = await stage.open(before);
    const read = (server: string) => actor.host.call({ server, tool: "read" }, {});
    for (const server of Object.keys(before)) expect((await read(server)).outcome).toBe("completed");
    const pids = { kept: kept.pid(), graded: graded.pid(), moved: moved.pid(), gone: gone.pid() };

    await actor.host.reload(
      compile(stage, {
        kept: kept.entry,
        graded: { ...graded.entry, tools: { read: "off", write: "L2" }, limits: { timeout: "7s" } },
        moved: { ...moved.entry, env: { ...(moved.entry["env"] as JsonObject), MORE: "1" } },
        fresh: fresh.entry,
      }),
    );
    expect(actor.of("config.reloaded")).toMatchObject([
      { added: ["fresh"], removed: ["gone"], changed: ["graded", "moved"] },
    ]);
    expect([kept.starts(), graded.starts(), gone.starts()]).toEqual([1, 1, 1]);
    expect(() => process.kill(pids.gone, 0)).toThrow();
    expect(() => process.kill(pids.moved, 0)).toThrow();
    process.kill(pids.kept, 0);
    process.kill(pids.graded, 0);
    expect(await read("kept")).toMatchObject({ outcome: "completed" });
    expect(await read("graded")).toMatchObject({ outcome: "refused", code: "tool_off" });
    expect(await read("moved")).toMatchObject({ outcome: "completed" });
    expect(moved.starts()).toBe(2);
    await expect(read("gone")).rejects.toMatchObject({ code: "unknown_server" });
    expect((await read("fresh")).outcome).toBe("completed");
  });

  it("a call that waits in the queue of a server that is moved goes to where it is now", async () => {
    const one = await startPuppetHttp({ limits: { concurrency: 1 } });
    const two = await startPuppetHttp({ limits: { concurrency: 1 } });
    afterTest(one.close);
    afterTest(two.close);
    const stage = createStage();
    const actor = await stage.open({ server: one.entry }, { clock: createManualClock() });
    expect((await actor.settled(actor.host.call(READ, {}))).outcome).toBe("completed");
    await one.pull({ at: { "tools/call": "silent" } });
    const stuck = actor.host.call(WRITE, { text: "stuck" });
    await actor.becomes("it was sent", () => one.called("write") === 1);
    const queued = actor.host.call(WRITE, { text: "queued" });
    const reloaded = actor.host.reload(compile(stage, { server: two.entry }));
    await actor.pass(5_000);
    await actor.settled(reloaded);
    expect(await actor.settled(stuck)).toMatchObject({ effect: "unknown" });
    expect(await actor.settled(queued)).toMatchObject({ outcome: "completed", effect: "applied" });
    expect([one.applied, two.applied]).toEqual([[], ["queued"]]);
  });

  it("limits count from the next call on without a restart; where bytes may go is asked anew of remote servers only", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    puppet.pull({ at: { "tools/call": "slow" }, slowMs: 100 });
    const remote = await startPuppetHttp();
    afterTest(remote.close);
    const servers = { server: puppet.entry, remote: remote.entry };
    const actor = await stage.open(servers);
    /** How many of three calls had reached the server when the first was answered. */
    const sentByFirstAnswer = async (): Promise<number> => {
      const before = puppet.called("write");
      const calls = Array.from({ length: 3 }, () => actor.host.call(WRITE, { text: "x" }));
      await Promise.race(calls);
      const sent = puppet.called("write") - before;
      await Promise.all(calls);
      return sent;
    };
    expect((await actor.host.call({ server: "remote", tool: "read" }, {})).outcome).toBe("completed");
    expect(await sentByFirstAnswer()).toBe(3);
    await actor.host.reload(compile(stage, servers, { limits: { concurrency: 1 } }));
    expect(await sentByFirstAnswer()).toBeLessThan(3);
    await actor.host.reload(compile(stage, servers, { egress: { allow: ["*.example.com"] } }));
    expect((await actor.host.call({ server: "remote", tool: "read" }, {})).outcome).toBe("completed");
    expect([puppet.starts(), remote.got("initialize")]).toEqual([1, 2]);
  });

  describe("while a call runs over a server whose entry changes", () => {
    /** A reload is under way; the call is never answered. */
    async function setUp() {
      const stage = createStage();
      const puppet = stage.puppet("server");
      puppet.pull({ at: { "tools/call": "silent" } });
      const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
      const running = actor.host.call(WRITE, { text: "running" });
      await actor.becomes("it was sent", () => puppet.called("write") === 1);
      const env = { ...(puppet.entry["env"] as JsonObject), MORE: "1" };
      const oldPid = puppet.pid();
      const reloaded = actor.host.reload(compile(stage, { server: { ...puppet.entry, env } }));
      reloaded.catch(() => undefined);
      return { puppet, actor, running, reloaded, oldPid };
    }

    it("it is answered by the process that has it; a new one waits for the new process, which starts when the old is gone", async () => {
      const stage = createStage();
      const puppet = stage.puppet("server");
      puppet.pull({ at: { "tools/call": "slow" }, slowMs: 300 });
      const actor = await stage.open({ server: puppet.entry });
      const running = actor.host.call(WRITE, { text: "running" });
      await until(() => puppet.called("write") === 1);
      const oldPid = puppet.pid();
      const env = { ...(puppet.entry["env"] as JsonObject), MORE: "1" };
      const reloaded = actor.host.reload(compile(stage, { server: { ...puppet.entry, env } }));
      const next = actor.host.call(WRITE, { text: "next" });
      expect(await running).toMatchObject({ outcome: "completed", effect: "applied" });
      expect(await next).toMatchObject({ outcome: "completed", effect: "applied" });
      await reloaded;
      const writers = puppet
        .lines()
        .flatMap(({ applied, pid }) => (applied === undefined ? [] : [{ applied, pid }]));
      expect(writers).toEqual([
        { applied: "running", pid: oldPid },
        { applied: "next", pid: puppet.pid() },
      ]);
      expect(puppet.pid()).not.toBe(oldPid);
      expect(() => process.kill(oldPid, 0)).toThrow();
    });

    it("it is cut off after 5 s", async () => {
      const { puppet, actor, running, reloaded, oldPid } = await setUp();
      let isOver = false;
      void running.then(() => {
        isOver = true;
      });
      await actor.pass(4_900);
      expect(isOver).toBe(false);
      process.kill(oldPid, 0);
      await actor.pass(100);
      expect(await actor.settled(running)).toMatchObject({ outcome: "cancelled", code: "interrupted" });
      await actor.settled(reloaded);
      expect(() => process.kill(oldPid, 0)).toThrow();
      puppet.pull({});
      expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
    });

    it("a process that is lost meanwhile is not started again", async () => {
      const { puppet, actor, running, reloaded, oldPid } = await setUp();
      process.kill(oldPid, "SIGKILL");
      expect(await actor.settled(running)).toMatchObject({ code: "process_exited" });
      await actor.settled(reloaded);
      await actor.pass(10_000);
      expect(puppet.starts()).toBe(1);
    });

    it("the end of the host waits for it no longer than for others", async () => {
      const { actor, running, oldPid } = await setUp();
      const startedMs = performance.now();
      const summary = await actor.close();
      expect(summary).toMatchObject({ cutOff: 1, remains: [] });
      expect(await running).toMatchObject({ outcome: "cancelled" });
      expect(() => process.kill(oldPid, 0)).toThrow();
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    });
  });
});

function compile(stage: Stage, servers: JsonObject, top: JsonObject = {}): Config {
  const at = { file: null, baseDir: stage.dir, stateDir: `${stage.dir}/state`, isStateDirGiven: true };
  return compileConfig({ mcpServers: servers, ...top }, { ...thisProcess(), ...at });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
