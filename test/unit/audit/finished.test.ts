import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/base/json.ts";
import { createSeededRandom, timedId, timeOfId } from "../../../src/base/random.ts";
import { listActivity } from "../../../src/audit/activity.ts";
import { expandCalls } from "../../../src/audit/finished.ts";
import type { CallDecided, CallOpened } from "../../../src/audit/marks.ts";
import type { StoredRecord } from "../../../src/store/store.ts";
import { call, openAuditBench, outcome, type AuditBench } from "./audit-bench.ts";

const random = createSeededRandom(5);

const READS: CallDecided = {
  decision: "allow",
  grade: "L0",
  reasons: [{ rule: "allow.L0", message: "it only reads" }],
};

/** A reading call that is over at once. @returns its id. */
async function read({ audit, clock }: AuditBench, part: Partial<CallOpened> = {}): Promise<string> {
  const callId = part.callId ?? timedId(random, clock.now());
  const trail = await audit.open(call({ grade: "L0", tool: "search", ...part, callId }));
  trail.decided(READS);
  await trail.dispatched();
  trail.attempt(1, { code: null, durationMs: 1 });
  await trail.closed(outcome({ effect: "none", message: `${callId} is over` }));
  return callId;
}

async function shapes({ store }: AuditBench): Promise<unknown[]> {
  return (await store.records.query({})).map(({ kind, body }) => {
    const { calls } = body;
    return Array.isArray(calls) ? [kind, body["tool"], calls.length] : [kind, body["tool"]];
  });
}

describe("reading calls that end at about the same time", () => {
  it("share a record per server, tool and principal, and are found one by one", async () => {
    const bench = await openAuditBench();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await read(bench, { arguments: { n } }));
      await bench.clock.advance(1);
    }
    const other = await read(bench, { tool: "list" });
    const others = await read(bench, { principal: "bob" });
    await bench.clock.advance(50);
    expect(await shapes(bench)).toEqual([
      ["calls", "search", 5],
      ["call", "list"],
      ["call", "search"],
    ]);
    const found = async (filter: Parameters<typeof listActivity>[1]): Promise<string[]> =>
      (await listActivity(bench.store, filter)).map(({ callId }) => callId);
    expect(await found({})).toEqual([others, other, ...ids.toReversed()]);
    expect(await found({ limit: 4 })).toEqual([others, other, ids[4], ids[3]]);
    expect(await found({ tool: "search", principal: "local" })).toEqual(ids.toReversed());
    const at = timeOfId(ids[3] ?? "") ?? 0;
    expect(await found({ fromMs: at, tool: "search", principal: "local" })).toEqual([ids[4], ids[3]]);
    expect(await found({ toMs: at - 3 })).toEqual([ids[0]]);
    for (const [n, callId] of ids.entries()) {
      expect(await listActivity(bench.store, { callId })).toMatchObject([
        { callId, outcome: "completed", effect: "none", arguments: { n }, message: `${callId} is over` },
      ]);
    }
    expect(await found({ callId: ids[0] ?? "", server: "notion" })).toEqual([]);
    expect(await found({ callId: timedId(random, bench.clock.now()) })).toEqual([]);
    expect((await bench.store.records.verify())[0]).toMatchObject({ ok: true, length: 3 });
  });

  it("stand in the order of canonical JSON, which is what makes them cheap", async () => {
    const bench = await openAuditBench();
    await read(bench);
    await read(bench);
    bench.audit.release();
    expect(bench.given[0]?.kind).toBe("calls");
    const text = JSON.stringify(bench.given[0]?.body);
    expect(text).toBe(canonicalJson(JSON.parse(text)));
    // What all have in common stands once.
    expect(text.split("it only reads")).toHaveLength(2);
  });

  it("have a record of their own where their id does not tell when they were opened", async () => {
    const bench = await openAuditBench();
    await read(bench);
    await read(bench);
    await read(bench, { callId: "of somebody else's making" });
    await read(bench, { callId: timedId(random, bench.clock.now() - 5_000) });
    await read(bench, { callId: timedId(random, bench.clock.now() + 5) });
    bench.audit.release();
    expect(await shapes(bench)).toEqual([
      ["calls", "search", 2],
      ...Array.from({ length: 3 }, () => ["call", "search"]),
    ]);
  });

  it("are at most 64 in a record, and written at once where many are over", async () => {
    const bench = await openAuditBench();
    for (let n = 0; n < 600; n += 1) await read(bench);
    expect(await shapes(bench)).toEqual(Array.from({ length: 8 }, () => ["calls", "search", 64]));
    bench.audit.release();
    expect(await listActivity(bench.store, { limit: 1_000 })).toHaveLength(600);
  });

  it("are counted one by one where they are lost", async () => {
    const bench = await openAuditBench({ maxBytes: 300_000 });
    const { store, clock, faults } = bench;
    await store.documents.put("last-good", "ballast", "x".repeat(60_000));
    for (let n = 0; ; n += 1) {
      const isFull = await store.documents.put("pins", String(n), "x".repeat(500)).then(
        () => false,
        () => true,
      );
      if (isFull) break;
    }
    const big = { text: "y".repeat(10_000) };
    await read(bench, { arguments: big });
    await read(bench, { arguments: big });
    await clock.advance(100);
    expect(faults).toMatchObject([{ code: "audit_unavailable" }]);
    await store.documents.delete("last-good", "ballast");
    await read(bench, { arguments: {} });
    await clock.advance(100);
    const gaps = await store.records.query({ kinds: ["audit.gap"] });
    expect(gaps.map(({ body }) => body["lost"])).toEqual([2]);
  });

  it("show an answer that came after the end", async () => {
    const bench = await openAuditBench();
    await read(bench);
    const callId = timedId(random, bench.clock.now());
    const trail = await bench.audit.open(call({ grade: "L0", tool: "search", callId }));
    await trail.closed(outcome({ outcome: "timed_out", code: "timed_out", effect: "none" }));
    trail.late();
    bench.audit.release();
    expect(await listActivity(bench.store, { callId })).toMatchObject([
      { outcome: "timed_out", isLate: true },
    ]);
  });
});

describe("a shared record that somebody else wrote", () => {
  it.each<[string, StoredRecord["body"], number]>([
    ["no list", { calls: "many" }, 0],
    ["no calls", {}, 0],
    [
      "items that are no calls",
      { calls: [1, null, "x", {}, { callId: 1, at: 2 }, { callId: "c", at: "soon" }] },
      0,
    ],
    ["one call", { calls: [{ callId: "c", at: 3 }], tool: "t" }, 1],
  ])("with %s", (_what, body, length) => {
    const record = {
      callId: "",
      kind: "calls",
      at: 1,
      body,
      writer: "w",
      sequence: 1,
      previousHash: "",
      hash: "",
    };
    expect(expandCalls(record)).toHaveLength(length);
  });
});
