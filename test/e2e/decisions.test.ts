/** Decisions through the host: undo, standing approvals, rollout; what the server itself wrote down is the witness. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
const hosts: Host[] = [];

beforeEach(() => {
  bench = createWorkbench();
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  bench.remove();
});

interface Setup {
  readonly tools: JsonObject;
  readonly server?: JsonObject;
  readonly top?: JsonObject;
}

async function open({ tools, server = {}, top = {} }: Setup, more: Partial<HostOptions> = {}): Promise<Host> {
  const entry = bench.ledgerEntry({ source: "own", ...server, tools });
  const host = await openHost({
    config: { mcpServers: { ledger: entry }, ...top },
    stateDir: bench.stateDir,
    ...more,
  });
  hosts.push(host);
  return host;
}

const removed = (): unknown[] =>
  bench
    .ledger()
    .filter((line) => line.tool === "remove")
    .map((line) => line.args?.["ids"]);

const REVERSIBLE = { grade: "L1", undo: { tool: "remove", args: { ids: ["$arguments.text"] } } };

describe("undo", { timeout: 60_000 }, () => {
  it("takes a call back once, by a governed and recorded call", async () => {
    const host = await open({ tools: { write: REVERSIBLE, remove: "L1" } });
    const done = await host.call({ server: "ledger", tool: "write" }, { text: "a" });
    expect(done).toMatchObject({ outcome: "completed", grade: "L1", effect: "applied" });
    expect(Date.parse(done.undoUntil ?? "")).toBeGreaterThan(Date.now());
    expect(await host.undo(done.callId)).toMatchObject({
      tool: "remove",
      outcome: "completed",
      effect: "applied",
    });
    expect(removed()).toEqual([["a"]]);
    await expect(host.undo(done.callId)).rejects.toMatchObject({ code: "undo_gone" });
    const calls = await host.activity();
    expect(calls.map((call) => call.tool)).toEqual(["remove", "write"]);
    expect(calls[1]?.undoUntil).toBe(done.undoUntil);
  });

  it("after 30 seconds it is refused, and nothing is sent", async () => {
    const clock = createManualClock(Date.now());
    const entry = bench.ledgerEntry({ source: "own", tools: { write: REVERSIBLE, remove: "L1" } });
    const host = await openHost(
      { config: { mcpServers: { ledger: entry } }, stateDir: bench.stateDir },
      { clock },
    );
    hosts.push(host);
    const moving = setInterval(() => void clock.advance(5), 5);
    try {
      const done = await host.call({ server: "ledger", tool: "write" }, { text: "a" });
      expect(done.outcome).toBe("completed");
      await clock.advance(30_000);
      await expect(host.undo(done.callId)).rejects.toMatchObject({ code: "undo_gone" });
      expect(removed()).toEqual([]);
      await host.close();
    } finally {
      clearInterval(moving);
    }
  });

  it("asks where its tool is not L0 or L1 by exact name, and shows where its values came from", async () => {
    const host = await open({ tools: { write: REVERSIBLE, "rem*": "L1" } });
    const done = await host.call({ server: "ledger", tool: "write" }, { text: "a" });
    expect(await host.undo(done.callId, { wait: false })).toMatchObject({
      outcome: "refused",
      code: "approval_needed",
    });
    expect(removed()).toEqual([]);
  });

  it("is nobody else's", async () => {
    const host = await open({ tools: { write: REVERSIBLE, remove: "L1" } });
    const done = await host.call({ server: "ledger", tool: "write" }, { text: "a" }, { principal: "alice" });
    await expect(host.undo(done.callId, { principal: "bob" })).rejects.toMatchObject({ code: "undo_gone" });
    expect(await host.undo(done.callId, { principal: "alice" })).toMatchObject({ outcome: "completed" });
  });
});

describe("standing approvals", { timeout: 60_000 }, () => {
  const answering = (grant: "session" | "arguments" | undefined) => {
    let host: Host | undefined;
    let asked = 0;
    const refusals: string[] = [];
    const onEvent: NonNullable<HostOptions["onEvent"]> = (event) => {
      if (event.type !== "approval.requested") return;
      asked += 1;
      const answer = { verdict: "approve", by: "ann", channel: "console" } as const;
      host?.approvals
        .answer(event.approvalId, grant === undefined ? answer : { ...answer, grant })
        .catch((error: { code: string }) => refusals.push(error.code));
    };
    return { onEvent, use: (opened: Host) => (host = opened), asked: () => asked, refusals };
  };

  it("are off unless the configuration allows them", async () => {
    const person = answering("arguments");
    const host = await open({ tools: { write: "L2" } }, { onEvent: person.onEvent });
    person.use(host);
    const waiting = host.turn({ signal: AbortSignal.timeout(1_500) }).call("ledger__write", { text: "a" });
    expect((await waiting).outcome).toBe("cancelled");
    expect(person.refusals).toEqual(["policy_denied"]);
    expect(await host.grants.list()).toEqual([]);
  });

  it("let the same be done again, are listed, and end when they are revoked", async () => {
    const person = answering("arguments");
    const host = await open(
      {
        tools: { write: "L2" },
        server: { labels: ["trusted", "internal"] },
        top: { approvals: { grants: "on" } },
      },
      { onEvent: person.onEvent },
    );
    person.use(host);
    const turn = host.turn({ principal: "alice" });
    expect((await turn.call("ledger__write", { text: "a" })).outcome).toBe("completed");
    expect((await turn.call("ledger__write", { text: "a" })).outcome).toBe("completed");
    expect(person.asked()).toBe(1);
    expect((await turn.call("ledger__write", { text: "b" })).outcome).toBe("completed");
    expect(person.asked()).toBe(2);
    const other = host.turn({ principal: "bob" });
    expect((await other.call("ledger__write", { text: "a" })).outcome).toBe("completed");
    expect(person.asked()).toBe(3);
    const [grant] = await host.grants.list();
    if (grant === undefined) throw new Error("no grant was kept");
    for (const one of await host.grants.list()) expect(await host.grants.revoke(one.id, "ann")).toBe(true);
    expect((await turn.call("ledger__write", { text: "a" })).outcome).toBe("completed");
    expect(person.asked()).toBe(4);
  });
});

describe("the flow of a conversation", { timeout: 60_000 }, () => {
  it("no standing approval covers a call that would send outward after private and untrusted content was read", async () => {
    const host = await open({ tools: { read: "L0", write: "L2" }, top: { approvals: { grants: "on" } } });
    const asked: boolean[] = [];
    host.onEvent((event) => {
      if (event.type !== "approval.requested") return;
      void host.approvals.list().then(async ([first]) => {
        if (first === undefined) return;
        asked.push(first.mayGrant);
        await host.approvals.answer(first.id, { verdict: "approve", by: "ann", channel: "console" });
      });
    });
    const turn = host.turn();
    await turn.call("ledger__read", { text: "from a stranger" });
    expect(await turn.call("ledger__write", { text: "out" })).toMatchObject({ outcome: "completed" });
    expect(asked).toEqual([false]);
  });
});

describe("rollout", { timeout: 60_000 }, () => {
  it("those outside do not see the server, cannot call it and read nothing of it [RPC-02]", async () => {
    const host = await open({
      tools: { read: "L0" },
      server: { rollout: { percent: 0, principals: ["alice"] } },
    });
    expect((await host.turn({ principal: "alice" }).tools()).map((tool) => tool.name)).toContain(
      "ledger__read",
    );
    expect((await host.turn({ principal: "bob" }).tools()).map((tool) => tool.name)).not.toContain(
      "ledger__read",
    );
    expect(await host.turn({ principal: "bob" }).call("ledger__read", {})).toMatchObject({
      outcome: "refused",
      code: "outside_rollout",
    });
    const reading = await host.read("ledger", "file:///x", { principal: "bob" });
    expect(reading).toMatchObject({ outcome: "refused", code: "outside_rollout" });
    expect(bench.sent("read")).toBe(0);
  });
});
