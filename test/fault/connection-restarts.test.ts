/** Servers that die: started again with memory, never in a storm, and never called before their definitions were looked at. */
import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { renderOutcome } from "../../src/cli/render/outcome.ts";
import { renderTools } from "../../src/cli/render/tools.ts";
import { runOperation } from "../../src/operations/operation.ts";
import { tools } from "../../src/operations/tools.ts";
import { createStage } from "../support/stage.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;
const never = new AbortController().signal;

describe("restarts", { timeout: 60_000 }, () => {
  it("a crash loop ends after four starts: dead with the reason and its last words, until asked [STDIO-09]", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    puppet.pull({ at: { "tools/list": "exit" }, stderr: "no database at db:5432" });
    const clock = createManualClock();
    const actor = await stage.open({ server: puppet.entry }, { clock });
    const first = actor.host.call(READ, {});
    await actor.pass(60_000);
    const ended = await first;
    expect(ended).toMatchObject({ outcome: "unavailable", effect: "none", attempts: 0 });
    expect(ended.lastWords).toBe("no database at db:5432");
    expect(ended.model).not.toContain("database");
    expect(renderOutcome(ended)).toContain(
      "\n  the server's own last words, on stderr:\n  | no database at db:5432\n",
    );
    expect(puppet.starts()).toBe(4);
    expect(await actor.status("server")).toMatchObject({
      state: "dead",
      reason: expect.stringMatching(/gave up after 4 failures.*exited with code 3/),
      lastWords: "no database at db:5432",
      next: "waits for `portcullis reconnect`",
      restarts: 3,
    });
    const context = {
      host: actor.host,
      by: "local",
      channel: "terminal",
      signal: never,
      nowMs: clock.now,
    } as const;
    const listed = await actor.settled(runOperation(tools, context, { server: "server" }));
    expect(renderTools(listed).split("\n")).toEqual([
      "no tools",
      expect.stringMatching(/^server: gave up after 4 failures.*; waits for `portcullis reconnect`$/),
      "  the server's own last words, on stderr:",
      "  | no database at db:5432",
    ]);
    await actor.pass(120_000);
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "unavailable" });
    expect(puppet.starts()).toBe(4);
    puppet.pull({});
    await actor.host.reconnect("server");
    await actor.becomes("ready", () => actor.states("server").at(-1) === "ready");
    expect(await actor.settled(actor.host.call(READ, {}))).toMatchObject({ outcome: "completed" });
  });

  it("a call that the server dies of tells its last words: bounded, cleaned, without secrets, to people only", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server", { env: { TOKEN: "${env:PORTCULLIS_TEST_TOKEN}" } });
    vi.stubEnv("PORTCULLIS_TEST_TOKEN", "s3cret-token-of-a-server");
    const lines = Array.from({ length: 50 }, (_unused, at) => `line ${at}`);
    const stderr = [...lines, "\u001b[31ms3cret-token-of-a-server was refused"].join("\n");
    puppet.pull({ at: { "tools/call": "exit" }, stderr });
    const actor = await stage.open({ server: puppet.entry });
    const { lastWords, ...outcome } = await actor.host.call(WRITE, { text: "one" });
    expect(outcome).toMatchObject({ code: "process_exited", effect: "unknown" });
    expect(lastWords?.split("\n")).toEqual([
      "line 46",
      "line 47",
      "line 48",
      "line 49",
      expect.stringMatching(/^␛\[31m.* was refused$/),
    ]);
    expect(lastWords).not.toContain("s3cret");
    expect(JSON.stringify(outcome)).not.toContain("line 49");
    vi.unstubAllEnvs();
  });

  it("a server that leaves at once, probe or not, is started four times as well", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    puppet.pull({ at: { start: "exit" } });
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    const first = actor.host.call(READ, {});
    await actor.pass(60_000);
    expect(await first).toMatchObject({ outcome: "unavailable", effect: "none" });
    expect(puppet.starts()).toBe(4);
    expect((await actor.status("server")).state).toBe("dead");
  });

  it("a handshake does not clear the count, a minute of health does", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    const crash = async (): Promise<string | undefined> => {
      await actor.becomes("ready", () => actor.states("server").at(-1) === "ready");
      process.kill(puppet.pid(), "SIGKILL");
      await actor.becomes("noticed", () => actor.states("server").at(-1) !== "ready");
      await actor.pass(10_000, { until: () => actor.states("server").at(-1) === "ready" });
      return actor.states("server").at(-1);
    };
    await actor.settled(actor.host.call(READ, {}));
    expect([await crash(), await crash()]).toEqual(["ready", "ready"]);
    await actor.pass(61_000);
    expect([await crash(), await crash(), await crash(), await crash()]).toEqual([
      "ready",
      "ready",
      "ready",
      "dead",
    ]);
    expect(puppet.starts()).toBe(6);
  });

  it("what no restart can mend is told at once", async () => {
    const stage = createStage();
    const actor = await stage.open({
      missing: { command: "/nowhere/server", source: "own" },
      secret: { command: process.execPath, args: ["-e", ""], env: { KEY: "${env:NOT_SET_ANYWHERE}" } },
    });
    for (const server of ["missing", "secret"]) {
      const outcome = await actor.host.call({ server, tool: "read" }, {});
      expect(outcome).toMatchObject({ outcome: "unavailable", effect: "none" });
      expect(actor.states(server)).toEqual(["connecting", "dead"]);
    }
    expect((await actor.status("missing")).reason).toContain("/nowhere/server");
    expect((await actor.status("secret")).reason).toContain("NOT_SET_ANYWHERE");
  });

  it("after every start the definitions are compared before the first call, also of one that was decided already", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    const actor = await stage.open({ server: puppet.entry }, { clock: createManualClock() });
    expect(await actor.settled(actor.host.call(WRITE, { text: "one" }))).toMatchObject({ effect: "applied" });
    const definition = { name: "write", inputSchema: { type: "object", properties: { text: {} } } };
    puppet.pull({ tools: [{ ...definition, description: "Writes, and posts it." }] });
    process.kill(puppet.pid(), "SIGKILL");
    await actor.becomes("noticed", () => actor.states("server").at(-1) === "backing-off");
    // Decided by the definition of before, it waits for the server; the server comes back with another one.
    const waiting = actor.host.call(WRITE, { text: "two" });
    await actor.pass(5_000, { until: () => actor.states("server").at(-1) === "ready" });
    expect(await actor.settled(waiting)).toMatchObject({ code: "tool_changed", effect: "none" });
    expect(await actor.settled(actor.host.call(WRITE, { text: "three" }))).toMatchObject({
      code: "tool_changed",
    });
    expect(puppet.called("write")).toBe(1);
    const order = puppet.lines().flatMap((line) => line.got ?? line.did ?? []);
    expect(order.slice(order.lastIndexOf("start"))).not.toContain("tools/call");
    expect(order.slice(order.lastIndexOf("start"))).toContain("tools/list");
  });

  it("ten quick reconnects of a slow start leave one process at most, and the late one is not used", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server", { connect: "eager", limits: { connect: "2s" } });
    puppet.pull({ at: { initialize: "slow", "server/discover": "unknown" }, slowMs: 1_000 });
    const actor = await stage.open({ server: puppet.entry });
    const alive = (): number[] =>
      [...new Set(puppet.lines().map((line) => line.pid))].filter((pid) => {
        try {
          process.kill(pid, 0);
          return true;
        } catch {
          return false;
        }
      });
    for (let time = 0; time < 10; time += 1) {
      const started = puppet.starts();
      await actor.host.reconnect("server");
      while (puppet.starts() === started) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(alive().length).toBeLessThanOrEqual(1);
    }
    puppet.pull({});
    expect(await actor.host.call(READ, {})).toMatchObject({ outcome: "completed" });
    expect(alive()).toEqual([puppet.pid()]);
  });
});
