/** Many servers at once, some of them broken: the good ones are ready as if the others were not there. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";
import { startLocalServer } from "../support/local-http.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor, type Stage } from "../support/stage.ts";

const script = (name: string): string => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
const own = (name: string, ...args: readonly string[]): JsonObject => ({
  command: process.execPath,
  args: [script(name), ...args],
  source: "own",
});
const sh = (program: string): JsonObject => ({ command: "/bin/sh", args: ["-c", program], source: "own" });
const eager = (servers: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(servers).map(([name, entry]) => [name, { ...(entry as JsonObject), connect: "eager" }]),
  );

async function until(what: string, isSo: () => boolean, forMs = 60_000): Promise<void> {
  const endMs = Date.now() + forMs;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`it never came to be: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const areReady = (actor: Actor, names: readonly string[]): boolean => {
  const ready = new Set(
    actor
      .of("connection.changed")
      .filter(({ to }) => to === "ready")
      .map(({ key }) => key.server),
  );
  return names.every((name) => ready.has(name));
};

describe("starting", { timeout: 120_000 }, () => {
  it("a server that was well goes before those that were not: no good one waits for a bad one, though the clock stands still", async () => {
    const stage = createStage();
    const good = Array.from({ length: 4 }, (_unused, at) => stage.puppet(`good${at}`));
    const hanging = Array.from({ length: 4 }, (_unused, at) => [`hangs${at}`, sh("exec sleep 100")] as const);
    const servers: JsonObject = Object.fromEntries([
      ...hanging,
      ["exits", sh("exit 3")],
      ...good.map(({ entry }, at) => [`good${at}`, entry] as const),
    ]);
    const names = good.map((_unused, at) => `good${at}`);
    const first = await stage.open(servers);
    for (const server of names) await first.host.call({ server, tool: "read" }, {});
    await first.close();

    // Places for two: with a clock that stands still none is ever taken from who hangs.
    const top = { limits: { startAtOnce: 2 } };
    const actor = await stage.open(eager(servers), { clock: createManualClock(), top });
    await until("the good ones are ready", () => areReady(actor, names));
    const started = good.map((puppet) => puppet.starts());
    expect(started).toEqual([2, 2, 2, 2]);
    await actor.close();
  });

  it("the second process of a server that left at the probe waits until those who start have had their time", async () => {
    const stage = createStage();
    const shy = stage.puppet("shy");
    shy.pull({ at: { "server/discover": "exit" } });
    const clock = createManualClock();
    const actor = await stage.open(eager({ shy: shy.entry, hangs: sh("exec sleep 100") }), { clock });
    await until("it left", () => shy.lines().some(({ did }) => did === "exit"));
    await actor.becomes("it is ready", () => areReady(actor, ["shy"]));
    expect(shy.starts()).toBe(2);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(500);
    await actor.close();
  });

  describe("twelve servers, of which one hangs, one exits, one floods, one is slow: the other eight are as fast as without", () => {
    const good = Array.from({ length: 8 }, (_unused, at) => `good${at}`);
    const ledgerOf = (stage: Stage): string => join(stage.dir, "bad.ledger");
    /** Programs that cost little by themselves, so that what the host does about them shows. Each start writes a line. */
    const badOnes = (stage: Stage): JsonObject => {
      const bad = (name: string, program: string): JsonObject =>
        sh(`echo ${name} >> '${ledgerOf(stage)}'; ${program}`);
      return {
        hangs: bad("hangs", "exec sleep 100"),
        exits: bad("exits", "exit 3"),
        floods: bad(
          "floods",
          `read -r request; exec yes '{"jsonrpc":"2.0","method":"notifications/message"}'`,
        ),
        slow: bad("slow", "sleep 3; exec cat"),
      };
    };

    interface Start {
      /** From opening a host until each of the eight was ready, the fastest first. */
      readonly readyMs: readonly number[];
      /** The starts of bad ones until then. */
      readonly badStarts: readonly string[];
    }

    async function start(stage: Stage, bad: JsonObject, clock?: ManualClock): Promise<Start> {
      const ledger = ledgerOf(stage);
      writeFileSync(ledger, "");
      const servers: JsonObject = { ...bad };
      for (const name of good) servers[name] = stage.puppet(name).entry;
      const readyMs: number[] = [];
      let badStarts: readonly string[] = [];
      const startedMs = performance.now();
      const onEvent = (event: HostEvent): void => {
        if (event.type !== "connection.changed" || event.to !== "ready" || !good.includes(event.key.server))
          return;
        readyMs.push(performance.now() - startedMs);
        if (readyMs.length === good.length)
          badStarts = readFileSync(ledger, "utf8").split("\n").slice(0, -1).toSorted();
      };
      const actor = await stage.open(eager(servers), {
        ...(clock === undefined ? {} : { clock }),
        host: { onEvent },
      });
      await until("the good ones are ready", () => readyMs.length === good.length);
      await actor.close();
      return { readyMs, badStarts };
    }

    it("nothing waits for them, though no time passes; none of them is started twice before, and later none at all", async () => {
      const stage = createStage();
      const bad = badOnes(stage);
      const first = await start(stage, bad, createManualClock());
      expect(first.badStarts).toEqual([...new Set(first.badStarts)]);
      const second = await start(stage, bad, createManualClock());
      expect(second.badStarts).toEqual([]);
    });

    /**
     * With and without the bad ones by turns, until a round shows that they are as near to each other as they should be: other load on
     * the machine hits one or the other.
     */
    async function bestRatio(time: (withBad: boolean) => Promise<Start>): Promise<number> {
      const mean = (times: readonly number[]): number =>
        times.reduce((sum, ms) => sum + ms, 0) / times.length;
      let best = Infinity;
      for (let round = 0; round < 10 && best >= BOUND; round += 1) {
        const { readyMs: without } = await time(false);
        const { readyMs: together } = await time(true);
        const last = Math.max(...together) / Math.max(...without);
        best = Math.min(best, Math.max(last, mean(together) / mean(without)));
      }
      return best;
    }
    const BOUND = 1.25;

    it("in time, at the first start", async () => {
      const ratio = await bestRatio(async (withBad) => {
        const stage = createStage();
        return start(stage, withBad ? badOnes(stage) : {});
      });
      expect(ratio).toBeLessThan(BOUND);
    });

    it("in time, at every later start, also where the bad ones are programs that take the processor", async () => {
      const ratio = await bestRatio(async (withBad) => {
        const stage = createStage();
        const slow = stage.puppet("slow");
        slow.pull({ at: { initialize: "slow", "server/discover": "unknown" }, slowMs: 3_000 });
        const bad = {
          hangs: own("stdio-deaf"),
          exits: own("stdio-exits", "3"),
          floods: own("stdio-endless-line"),
          slow: slow.entry,
        };
        await start(stage, withBad ? bad : {});
        return start(stage, withBad ? bad : {});
      });
      expect(ratio).toBeLessThan(BOUND);
    });
  });

  it("a hundred servers, ten of them broken in as many ways: ninety ready, none of them wrongly dead", async () => {
    const stage = createStage();
    const servers: JsonObject = {};
    const good: string[] = [];
    const broken = await breakTen(stage.dir, stage);
    Object.assign(servers, broken);
    for (let at = 0; at < 20; at += 1) {
      good.push(`process${at}`);
      servers[`process${at}`] = stage.puppet(`process${at}`).entry;
    }
    for (let at = 0; at < 70; at += 1) {
      const puppet = await startPuppetHttp();
      afterTest(puppet.close);
      good.push(`remote${at}`);
      servers[`remote${at}`] = puppet.entry;
    }
    for (const entry of Object.values(servers)) (entry as JsonObject)["connect"] = "eager";
    const actor = await stage.open(servers);
    const startedMs = performance.now();
    await until("ninety are ready", () => areReady(actor, good));
    const tookMs = performance.now() - startedMs;
    // Ten that hang would take 30 s each if anybody waited for them.
    expect(tookMs).toBeLessThan(30_000);
    const { servers: statuses } = await actor.host.status();
    const states = new Map(statuses.map(({ name, state }) => [name, state]));
    expect(good.filter((name) => states.get(name) !== "ready")).toEqual([]);
    expect(Object.keys(broken).filter((name) => states.get(name) === "ready")).toEqual([]);
    const calls = await Promise.all(
      good.map(async (server) => actor.host.call({ server, tool: "read" }, {})),
    );
    expect(calls.filter(({ outcome }) => outcome !== "completed")).toEqual([]);
  });
});

/** Ten servers that never get ready, each for another reason. */
async function breakTen(_dir: string, stage: ReturnType<typeof createStage>): Promise<JsonObject> {
  const refuses = stage.puppet("refuses");
  refuses.pull({ era: "none" });
  const lists = stage.puppet("lists");
  lists.pull({ at: { "tools/list": "exit" } });
  const garbage = stage.puppet("garbage");
  garbage.pull({ at: { initialize: "garbage", "server/discover": "unknown" } });
  const remote = async (handler: Parameters<typeof startLocalServer>[0]): Promise<JsonObject> => {
    const server = await startLocalServer(handler);
    afterTest(server.close);
    return { url: server.url.href, source: "own", allowPrivateAddresses: true };
  };
  const gone = await startLocalServer(() => undefined);
  await gone.close();
  return {
    hangs: own("stdio-deaf"),
    exits: own("stdio-exits"),
    floods: own("stdio-endless-line"),
    missing: { command: "/nowhere/server", source: "own" },
    refuses: refuses.entry,
    lists: lists.entry,
    garbage: garbage.entry,
    down: { url: gone.url.href, source: "own", allowPrivateAddresses: true },
    page: await remote((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works</h1>");
    }),
    silent: await remote(() => undefined),
  };
}
