/** Many servers at once, some of them broken: the good ones are ready as if the others were not there. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { startLocalServer } from "../support/local-http.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";

const script = (name: string): string => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
const own = (name: string): JsonObject => ({
  command: process.execPath,
  args: [script(name)],
  source: "own",
});

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
  it("twelve servers, of which one hangs, one exits, one floods, one is slow: the other eight are as fast as without", async () => {
    const good = Array.from({ length: 8 }, (_unused, at) => `good${at}`);
    const time = async (withBad: boolean): Promise<number> => {
      const stage = createStage();
      const slow = stage.puppet("slow");
      slow.pull({ at: { initialize: "slow", "server/discover": "unknown" }, slowMs: 3_000 });
      const bad = {
        hangs: own("stdio-deaf"),
        exits: own("stdio-exits"),
        floods: own("stdio-endless-line"),
        slow: slow.entry,
      };
      const servers: JsonObject = { ...(withBad ? bad : {}) };
      for (const name of good) servers[name] = stage.puppet(name).entry;
      for (const entry of Object.values(servers)) (entry as JsonObject)["connect"] = "eager";
      const startedMs = performance.now();
      const actor = await stage.open(servers);
      await until("the good ones are ready", () => areReady(actor, good));
      const tookMs = performance.now() - startedMs;
      expect(areReady(actor, ["slow"])).toBe(false);
      await actor.close();
      return tookMs;
    };
    const times: { readonly without: number; readonly with: number }[] = [];
    for (let round = 0; round < 3; round += 1)
      times.push({ without: await time(false), with: await time(true) });
    const best = (of: "without" | "with"): number => Math.min(...times.map((one) => one[of]));
    // Four more programs on the same processor cost what they cost; nobody waits for them.
    expect(best("with") / best("without")).toBeLessThan(2.5);
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
