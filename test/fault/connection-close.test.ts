/** The end of a host, in real time: within five seconds in every state, nothing left behind, and it says what it cut off. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { startPuppetHttp } from "../support/puppet-http.ts";
import { PUPPET_GRADES, type Puppet } from "../support/puppet.ts";
import { afterTest, createStage, type Actor } from "../support/stage.ts";

const READ = { server: "server", tool: "read" } as const;
const WRITE = { server: "server", tool: "write" } as const;

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 4_000; turn += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("it never came to be");
}

const reaches = (actor: Actor, state: string): Promise<void> =>
  until(() => actor.states("server").at(-1) === state);

const livingOf = (puppet: Puppet): number[] =>
  [...new Set(puppet.lines().map((line) => line.pid))].filter((pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  });

interface Scene {
  /** Brings the host into a state; resolves with the calls that are open then. */
  readonly play: (actor: Actor, puppet: Puppet) => Promise<Promise<Outcome>[]>;
  readonly more?: JsonObject;
  /** Per open call: outcome, code, effect. */
  readonly ends: readonly string[];
  /** More than the two seconds that calls in flight are left, where processes do not leave by themselves. */
  readonly atMostMs?: number;
}

const SCENES: Readonly<Record<string, Scene>> = {
  "nothing was used yet": { play: async () => [], ends: [] },
  "ready, nothing runs": {
    play: async (actor) => {
      await actor.host.call(READ, {});
      return [];
    },
    ends: [],
  },
  "a start that hangs, and a call that waits for it": {
    play: async (actor, puppet) => {
      await puppet.pull({ at: { initialize: "silent", "server/discover": "silent" } });
      const call = actor.host.call(READ, {});
      await reaches(actor, "connecting");
      await until(() => puppet.starts() === 1);
      return [call];
    },
    ends: ["cancelled interrupted none"],
  },
  "calls that were sent and are not answered, one that waits in the queue": {
    more: { limits: { concurrency: 2 } },
    play: async (actor, puppet) => {
      await puppet.pull({ at: { "tools/call": "silent" } });
      const calls = [READ, WRITE, WRITE].map(async (target) => actor.host.call(target, {}));
      await until(() => puppet.got("tools/call") === 2);
      return calls;
    },
    ends: ["cancelled interrupted none", "cancelled interrupted unknown", "cancelled interrupted none"],
  },
  "a call that streams": {
    play: async (actor, puppet) => {
      await puppet.pull({ pauseMs: 20, steps: 1_000 });
      const call = actor.host.call({ server: "server", tool: "stream" }, {});
      await until(() => actor.of("call.progressed").length > 2);
      return [call];
    },
    ends: ["cancelled interrupted none"],
  },
  "a call that ends in time": {
    play: async (actor, puppet) => {
      await puppet.pull({ at: { "tools/call": "slow" }, slowMs: 600 });
      const call = actor.host.call(WRITE, {});
      await until(() => puppet.called("write") === 1);
      return [call];
    },
    ends: ["completed null applied"],
  },
  "a person is asked": {
    more: { tools: { ...PUPPET_GRADES, write: "L2" } },
    play: async (actor) => {
      const call = actor.host.call(WRITE, {});
      await until(() => actor.of("approval.requested").length === 1);
      return [call];
    },
    ends: ["cancelled interrupted none"],
  },
  "backing off, with a call that waits": {
    play: async (actor, puppet) => {
      await actor.host.call(READ, {});
      await puppet.pull({ at: { start: "exit" } });
      process.kill(puppet.pid(), "SIGKILL");
      await reaches(actor, "backing-off");
      return [actor.host.call(WRITE, {})];
    },
    ends: ["cancelled interrupted none"],
  },
  dead: {
    play: async (actor, puppet) => {
      await puppet.pull({ at: { start: "exit" } });
      const outcome = await actor.host.call(READ, {});
      expect(outcome.outcome).toBe("unavailable");
      return [];
    },
    ends: [],
  },
  "a call waits between two tries": {
    play: async (actor, puppet) => {
      await puppet.pull({ at: { "tools/call": "exit" } });
      const call = actor.host.call(READ, {});
      await reaches(actor, "backing-off");
      return [call];
    },
    ends: ["cancelled interrupted none"],
  },
  "a server that ignores the end of stdin and SIGTERM": {
    play: async (actor, puppet) => {
      await puppet.pull({ at: { end: "silent", "tools/call": "silent" } });
      const call = actor.host.call(WRITE, {});
      await until(() => puppet.called("write") === 1);
      return [call];
    },
    ends: ["cancelled interrupted unknown"],
    atMostMs: 5_000,
  },
};

describe("closing a host", { timeout: 30_000 }, () => {
  it.each(Object.entries(SCENES))("%s", async (_name, { play, more, ends, atMostMs = 3_000 }) => {
    const stage = createStage();
    const puppet = stage.puppet("server", more);
    const actor = await stage.open({ server: puppet.entry });
    const turn = actor.host.turn();
    const calls = await play(actor, puppet);
    const startedMs = performance.now();
    const closing = actor.close();
    // A turn that was opened before takes no call any more, and the tool's server hears nothing of it.
    expect(await turn.call("server__write", { text: "too late" })).toMatchObject({
      code: "interrupted",
      effect: "none",
    });
    const summary = await closing;
    expect(performance.now() - startedMs).toBeLessThan(atMostMs);
    expect(summary.remains).toEqual([]);
    const outcomes = await Promise.all(calls);
    expect(outcomes.map(({ outcome, code, effect }) => `${outcome} ${code} ${effect}`)).toEqual(ends);
    const cut = outcomes.filter(({ code }) => code === "interrupted").map(({ callId }) => callId);
    expect(summary.calls.map(({ callId }) => callId).toSorted()).toEqual(cut.toSorted());
    expect(summary.cutOff).toBe(cut.length);
    expect(livingOf(puppet)).toEqual([]);
    expect(() => actor.host.turn()).toThrow(/closed/);
    expect(puppet.lines().some((line) => line.args?.["text"] === "too late")).toBe(false);
  });

  it("over HTTP, with calls in flight and a server that answers nothing any more", async () => {
    const puppet = await startPuppetHttp();
    afterTest(puppet.close);
    const stage = createStage();
    const actor = await stage.open({ server: puppet.entry });
    await actor.host.call(READ, {});
    await puppet.pull({ at: { "tools/call": "silent" } });
    const calls = [READ, WRITE].map(async (target) => actor.host.call(target, {}));
    await until(() => puppet.got("tools/call") === 3);
    const startedMs = performance.now();
    const summary = await actor.close();
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(summary).toMatchObject({ cutOff: 2, remains: [] });
    expect((await Promise.all(calls)).map(({ code, effect }) => `${code} ${effect}`)).toEqual([
      "interrupted none",
      "interrupted unknown",
    ]);
  });

  it("what was cut off stands in the trail, and is not sent again by the next host", async () => {
    const stage = createStage();
    const puppet = stage.puppet("server");
    await puppet.pull({ at: { "tools/call": "silent" } });
    const actor = await stage.open({ server: puppet.entry });
    const call = actor.host.call(WRITE, { text: "x" });
    await until(() => puppet.called("write") === 1);
    await actor.close(100);
    expect(await call).toMatchObject({ code: "interrupted", effect: "unknown" });
    await puppet.pull({});
    const next = await stage.open({ server: puppet.entry });
    expect(await next.host.activity()).toMatchObject([
      { tool: "write", outcome: "cancelled", code: "interrupted", effect: "unknown" },
    ]);
    expect((await next.host.call(READ, {})).outcome).toBe("completed");
    expect(puppet.called("write")).toBe(1);
    expect((await next.host.verify()).ok).toBe(true);
  });
});
