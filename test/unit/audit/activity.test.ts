import { describe, expect, it } from "vitest";
import { listActivity } from "../../../src/audit/activity.ts";
import { exportRecords } from "../../../src/audit/export.ts";
import { hashStoredRecord } from "../../../src/store/record-hash.ts";
import type { StoredRecord } from "../../../src/store/store.ts";
import { call, openAuditBench, outcome, type AuditBench } from "./audit-bench.ts";

async function makeCalls({ audit, clock }: AuditBench): Promise<void> {
  const calls = [
    { callId: "a", server: "github", tool: "search", grade: "L0", principal: "ann" },
    { callId: "b", server: "github", tool: "merge", grade: "L2", principal: "bob" },
    { callId: "c", server: "notion", tool: "search", grade: "L0", principal: "ann" },
  ] as const;
  for (const part of calls) {
    const trail = await audit.open(call(part));
    await trail.dispatched();
    await trail.closed(outcome({ effect: part.grade === "L0" ? "none" : "applied" }));
    await clock.advance(1_000);
  }
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

describe("activity", () => {
  it("lists calls newest first, short and long ones alike, narrowed by a filter", async () => {
    const bench = await openAuditBench();
    await makeCalls(bench);
    const ids = async (filter: Parameters<typeof listActivity>[1]): Promise<string[]> =>
      (await listActivity(bench.store, filter)).map(({ callId }) => callId);
    expect(await ids({})).toEqual(["c", "b", "a"]);
    expect(await ids({ limit: 2 })).toEqual(["c", "b"]);
    expect(await ids({ server: "github" })).toEqual(["b", "a"]);
    expect(await ids({ tool: "search", principal: "ann" })).toEqual(["c", "a"]);
    expect(await ids({ callId: "b" })).toEqual(["b"]);
    expect(await ids({ fromMs: bench.clock.now() - 1_500 })).toEqual(["c"]);
    expect((await listActivity(bench.store, { callId: "b" }))[0]).toMatchObject({
      effect: "applied",
      outcome: "completed",
      state: "closed",
    });
  });

  it("shows a call of this process as running, and one of a process that left as cut off", async () => {
    const bench = await openAuditBench();
    const gone = await openAuditBench({ dir: bench.dir });
    await (await bench.audit.open(call({ callId: "mine" }))).dispatched();
    await (await gone.audit.open(call({ callId: "theirs" }))).dispatched();
    const states = async (): Promise<Map<string, string>> =>
      new Map((await listActivity(bench.store)).map(({ callId, state }) => [callId, state]));
    expect(await states()).toEqual(
      new Map([
        ["mine", "running"],
        ["theirs", "running"],
      ]),
    );
    await gone.store.close();
    expect(await states()).toEqual(
      new Map([
        ["mine", "running"],
        ["theirs", "interrupted"],
      ]),
    );
  });
});

describe("export", () => {
  it("gives JSON lines that anybody can check, narrowed by a filter", async () => {
    const bench = await openAuditBench();
    await makeCalls(bench);
    const lines = await collect(exportRecords(bench.store.records));
    const records = lines.map((line) => {
      expect(line.endsWith("\n")).toBe(true);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      return JSON.parse(line) as StoredRecord;
    });
    expect(records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    for (const [at, record] of records.entries()) {
      expect(record.hash).toBe(hashStoredRecord(record));
      if (at > 0) expect(record.previousHash).toBe(records[at - 1]?.hash);
    }
    const some = await collect(exportRecords(bench.store.records, { server: "github", kinds: ["closed"] }));
    expect(some.map((line) => (JSON.parse(line) as StoredRecord).callId)).toEqual(["b"]);
  });
});
