/** The outside servers that crash, refuse, repeat and storm, through a whole host. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import type { ApprovalCallback } from "../../src/host/api.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer, type ScriptServer } from "../support/local-http.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";

const MINUTE_MS = 60_000;

interface FieldProcess {
  readonly entry: JsonObject;
  /** Lines of its STATE_FILE. */
  events(): readonly { readonly event: string; readonly method?: string; readonly pid: number }[];
  count(event: string, method?: string): number;
}

function fieldProcess(dir: string, name: string, env: JsonObject, more: JsonObject = {}): FieldProcess {
  const file = join(dir, `${name}.jsonl`);
  const events: FieldProcess["events"] = () =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as { event: string; pid: number })
      : [];
  return {
    entry: {
      command: process.execPath,
      args: [fieldServer(name)],
      source: "own",
      tools: { "*": "L0" },
      env: { STATE_FILE: file, ...env },
      ...more,
    },
    events,
    count: (event, method) =>
      events().filter((line) => line.event === event && (method === undefined || line.method === method))
        .length,
  };
}

const ERAS = ["legacy", "modern"] as const;

describeField("fc10-crash-after-handshake", () => {
  it.each(ERAS)(
    "crash, %s: a handful of starts, then dead with the reason",
    { timeout: 60_000 },
    async (era) => {
      const stage = createStage();
      const server = fieldProcess(stage.dir, "fc10-crash-after-handshake", { ERA: era });
      const actor = await stage.open({ server: server.entry }, { clock: createManualClock() });
      actor.host.call({ server: "server", tool: "nothing" }, {}).catch(() => undefined);
      await actor.pass(MINUTE_MS, {
        isBusy: () =>
          actor.states("server").at(-1) === "ready" || actor.states("server").at(-1) === "connecting",
        until: () => actor.states("server").at(-1) === "dead",
      });
      expect(server.count("start")).toBe(4);
      expect((await actor.status("server")).reason).toMatch(/gave up after 4 failures: .*exited with code 1/);
      await actor.pass(5 * MINUTE_MS);
      expect(server.count("start")).toBe(4);
    },
  );

  it(
    "slow-start with a shorter limit: the child is ended, the late success is not used, one lives at most",
    { timeout: 60_000 },
    async () => {
      const stage = createStage();
      const server = fieldProcess(
        stage.dir,
        "fc10-crash-after-handshake",
        { MODE: "slow-start", SLOW_MS: "2500" },
        { limits: { connect: "1s" } },
      );
      const actor = await stage.open({ server: server.entry });
      for (let time = 0; time < 10; time += 1) {
        const started = server.count("start");
        await actor.host.reconnect("server");
        await until(() => server.count("start") > started);
        const living = new Set(server.events().map(({ pid }) => pid));
        for (const pid of Array.from(living)) {
          try {
            process.kill(pid, 0);
          } catch {
            living.delete(pid);
          }
        }
        expect(living.size).toBeLessThanOrEqual(1);
      }
      const outcome = await actor.host.call({ server: "server", tool: "echo" }, {});
      expect(outcome).toMatchObject({ outcome: "unavailable", effect: "none" });
      expect(actor.states("server")).not.toContain("ready");
    },
  );
});

describeField("fc38-retry-side-effects", () => {
  const start = async (env: Record<string, string>): Promise<{ actor: Actor; server: ScriptServer }> => {
    const server = await startScriptServer(fieldServer("fc38-retry-side-effects"), env);
    afterTest(server.close);
    const stage = createStage();
    const entry = {
      url: server.url.href,
      source: "own",
      allowPrivateAddresses: true,
      tools: { read_it: "L0", pay: "L1", pay_idem: "L1" },
    };
    // What pays is asked about, whatever it is graded: the server itself says that it is not harmless.
    const onApproval: ApprovalCallback = async () => ({ verdict: "approve", by: "alice" });
    // It starts at the time of the world: one mode names a date.
    const clock = createManualClock(Date.now());
    return { actor: await stage.open({ server: entry }, { clock, host: { onApproval } }), server };
  };
  const call = async (actor: Actor, tool: string) => {
    const outcome = actor.host.call({ server: "server", tool }, {});
    let isOver = false;
    void outcome.then(() => (isOver = true));
    // In the time of the world, so that a real server has time to answer.
    await actor.pass(20_000, { until: () => isOver, isBusy: () => !isOver });
    return outcome;
  };

  it.each(
    ERAS.flatMap((era) =>
      ["429", "429-date", "429-neg", "429-junk", "429-none", "503", "502-html"].map(
        (mode) => [era, mode] as const,
      ),
    ),
  )(
    "%s %s: what reads is asked again after a bounded wait, what pays never",
    { timeout: 60_000 },
    async (era, mode) => {
      const { actor, server } = await start({ ERA: era, MODE: mode });
      expect(await call(actor, "read_it")).toMatchObject({ outcome: "completed", attempts: 2 });
      for (const tool of ["pay", "pay_idem"]) {
        expect(await call(actor, tool)).toMatchObject({
          outcome: "unavailable",
          effect: "unknown",
          attempts: 1,
        });
        // What it asked to wait holds the next call as well.
        await actor.pass(30_000);
      }
      const { counters } = await server.report();
      expect(counters["effect:pay"] ?? 0).toBe(0);
      expect(counters["effect:pay_idem"] ?? 0).toBe(0);
      expect(counters["effect:read_it"]).toBe(1);
    },
  );

  it.each(["429-day", "429-forever"])(
    "%s: bounded tries, and an error that says when",
    { timeout: 60_000 },
    async (mode) => {
      const { actor, server } = await start({ MODE: mode });
      const read = await call(actor, "read_it");
      expect(read).toMatchObject({ outcome: "unavailable", code: "rate_limited" });
      expect(read.attempts).toBeLessThanOrEqual(3);
      if (mode === "429-day") expect(read).toMatchObject({ attempts: 1 });
      if (mode === "429-day") expect(read.model).toMatch(/86,?400|24 h|1 day/);
      expect((await server.report()).counters["effect:read_it"] ?? 0).toBe(0);
    },
  );

  it.each(ERAS)(
    "%s 500-rpc: a JSON-RPC error is an answer and not asked again",
    { timeout: 60_000 },
    async (era) => {
      const { actor } = await start({ ERA: era, MODE: "500-rpc" });
      expect(await call(actor, "read_it")).toMatchObject({ attempts: 1 });
    },
  );

  it.each(["reset-after", "timeout"])(
    "%s: `pay` has its effect once and is never repeated",
    { timeout: 60_000 },
    async (mode) => {
      const { actor, server } = await start({ MODE: mode, SLOW_MS: "400" });
      const outcome = actor.host.call({ server: "server", tool: "pay" }, {});
      await actor.becomes("paid", () => actor.of("call.dispatched").length === 1);
      const paid = async (): Promise<number> => (await server.report()).counters["effect:pay"] ?? 0;
      while ((await paid()) === 0) await actor.pass(1);
      if (mode === "timeout") await actor.pass(35_000, { isBusy: () => false });
      expect(await actor.settled(outcome)).toMatchObject({ effect: "unknown", attempts: 1 });
      await actor.pass(MINUTE_MS);
      expect(await paid()).toBe(1);
    },
  );

  it(
    "reset-before: what reads is asked again, what pays is not, and it had no effect",
    { timeout: 60_000 },
    async () => {
      const { actor, server } = await start({ MODE: "reset-before" });
      expect(await call(actor, "read_it")).toMatchObject({ outcome: "completed", attempts: 2 });
      expect(await call(actor, "pay")).toMatchObject({ outcome: "unavailable", attempts: 1 });
      expect((await server.report()).counters["effect:pay"] ?? 0).toBe(0);
    },
  );
});

describeField("fc46-list-changed-storm", () => {
  const open = async (mode: string, era: string): Promise<{ actor: Actor; server: FieldProcess }> => {
    const stage = createStage();
    const server = fieldProcess(
      stage.dir,
      "fc46-list-changed-storm",
      { MODE: mode, ERA: era },
      { connect: "eager" },
    );
    const actor = await stage.open({ server: server.entry });
    return { actor, server };
  };
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  it.each(ERAS.flatMap((era) => [[era, "feedback"] as const, [era, "burst"] as const]))(
    "%s %s: fewer than ten lists in ten seconds",
    { timeout: 60_000 },
    async (era, mode) => {
      const { server, actor } = await open(mode, era);
      await wait(10_000);
      const lists = server.count("request", "tools/list");
      expect(lists).toBeGreaterThanOrEqual(2);
      expect(lists).toBeLessThan(10);
      expect(await actor.host.call({ server: "server", tool: "echo" }, {})).toMatchObject({
        outcome: "completed",
      });
    },
  );

  it.each(ERAS)("%s race: the newest list wins", { timeout: 60_000 }, async (era) => {
    const { server, actor } = await open("race", era);
    const lists = (): number => server.count("request", "tools/list");
    const names = async (): Promise<string[]> =>
      (await actor.host.tools({ server: "server" })).map(({ tool }) => tool).toSorted();
    // What is known in the end is what was told last, and not what came last.
    await until(async () => lists() >= 3 && (await names()).includes(`gen_${lists()}`));
    expect(await names()).toEqual(["echo", `gen_${lists()}`]);
  });

  it.each(ERAS)("%s real: a list that changes each second is followed", { timeout: 60_000 }, async (era) => {
    const { actor, server } = await open("real", era);
    const seen = new Set<string>();
    await until(async () => {
      for (const { tool } of await actor.host.tools({ server: "server" }))
        if (tool.startsWith("gen_")) seen.add(tool);
      return seen.size >= 4;
    });
    expect(server.count("request", "tools/list")).toBeLessThan(12);
  });
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 4_000; turn += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("it never came to be");
}
