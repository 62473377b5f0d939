import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { writeAnchor } from "../../../src/audit/anchor.ts";
import { startUpkeep } from "../../../src/audit/upkeep.ts";
import { verifyAudit } from "../../../src/audit/verify.ts";
import { call, openAuditBench, outcome, type AuditBench } from "./audit-bench.ts";

const DAY = 86_400_000;

async function makeCall({ audit }: AuditBench, callId: string): Promise<void> {
  const trail = await audit.open(call({ callId }));
  await trail.dispatched();
  await trail.closed(outcome());
}

/** What somebody does who has SQLite and bad intentions. */
function tamper({ dir }: AuditBench, sql: string): void {
  const file = new DatabaseSync(join(dir, "state.db"));
  file.exec(
    "DROP TRIGGER records_are_never_updated; DROP TRIGGER records_are_only_pruned; DROP TRIGGER chains_only_grow; DROP TRIGGER chains_stay_while_they_have_records",
  );
  file.exec(sql);
  file.close();
}

describe("anchors", () => {
  it("are written once a day, name only chains that moved, and each the one before", async () => {
    const bench = await openAuditBench();
    await makeCall(bench, "a");
    const first = await writeAnchor(bench.store, bench.clock);
    expect(first).toMatchObject({
      day: "2026-01-01",
      previous: null,
      heads: [{ writer: bench.store.instances.self.id, sequence: 3 }],
    });
    await makeCall(bench, "b");
    expect(await writeAnchor(bench.store, bench.clock)).toBeUndefined();
    await bench.clock.advance(DAY);
    const second = await writeAnchor(bench.store, bench.clock);
    expect(second).toMatchObject({
      day: "2026-01-02",
      previous: expect.stringMatching(/^[0-9a-f]{64}$/),
      heads: [{ sequence: 6 }],
    });
    await bench.clock.advance(DAY);
    expect((await writeAnchor(bench.store, bench.clock))?.heads).toEqual([]);
    expect(await verifyAudit(bench.store)).toEqual({
      ok: true,
      chains: 1,
      records: 6,
      broken: [],
      anchors: 3,
      anchorProblems: [],
      lost: 0,
    });
  });

  it("find a chain that was rewritten so that it verifies by itself", async () => {
    const bench = await openAuditBench();
    const other = await openAuditBench({ dir: bench.dir });
    await makeCall(other, "real");
    await writeAnchor(bench.store, bench.clock);
    const forged = await openAuditBench();
    await makeCall(forged, "forged");
    const [row] = await forged.store.records.heads();
    // The forger's chain, complete, in place of the real one.
    const writer = other.store.instances.self.id;
    tamper(bench, `DELETE FROM records; DELETE FROM chains`);
    const file = new DatabaseSync(join(bench.dir, "state.db"));
    file.exec(`ATTACH '${join(forged.dir, "state.db")}' AS forged`);
    file.exec(
      "INSERT INTO main.chains SELECT * FROM forged.chains; INSERT INTO main.records SELECT * FROM forged.records",
    );
    file.close();
    const verdict = await verifyAudit(bench.store);
    expect(verdict.broken).toEqual([]);
    expect(verdict.ok).toBe(false);
    expect(verdict.anchorProblems).toEqual([{ day: "2026-01-01", writer, reason: "the chain is gone" }]);
    expect(row?.writer).not.toBe(writer);
  });

  it.each([
    [
      "the newest records and the head with them",
      "DELETE FROM records WHERE sequence > 3; UPDATE chains SET sequence = 3, hash = (SELECT hash FROM records WHERE sequence = 3)",
      "the chain is shorter than it was",
    ],
    [
      "everything, as if it had been pruned",
      "DELETE FROM records; UPDATE chains SET pruned_to = sequence, pruned_hash = hash",
      "its records were dropped before their time",
    ],
  ])("find that somebody took away %s", async (_what, sql, reason) => {
    const bench = await openAuditBench();
    await makeCall(bench, "a");
    await writeAnchor(bench.store, bench.clock);
    await bench.clock.advance(DAY);
    await makeCall(bench, "b");
    await writeAnchor(bench.store, bench.clock);
    tamper(bench, sql);
    const verdict = await verifyAudit(bench.store);
    expect(verdict.broken).toEqual([]);
    expect(verdict.anchorProblems).toContainEqual({
      day: "2026-01-02",
      writer: bench.store.instances.self.id,
      reason,
    });
  });

  it("find that an anchor itself was changed", async () => {
    const bench = await openAuditBench();
    await makeCall(bench, "a");
    for (let day = 0; day < 2; day += 1) {
      await writeAnchor(bench.store, bench.clock);
      await bench.clock.advance(DAY);
    }
    await bench.store.documents.put("anchors", "2026-01-01", { heads: "nonsense" });
    const { anchorProblems } = await verifyAudit(bench.store);
    expect(anchorProblems.map(({ day }) => day)).toEqual(["2026-01-01", "2026-01-02"]);
  });
});

describe("upkeep", () => {
  it("closes orphans, anchors daily, keeps what is young enough, and tells what it dropped", async () => {
    const bench = await openAuditBench();
    const gone = await openAuditBench({ dir: bench.dir });
    await gone.audit.open(call({ callId: "orphan" }));
    await gone.store.close();
    const recovered: string[] = [];
    const faults: unknown[] = [];
    const upkeep = startUpkeep({
      store: bench.store,
      clock: bench.clock,
      retentionMs: () => 3 * DAY,
      onRecovered: (calls) => recovered.push(...calls.map(({ callId }) => callId)),
      onFault: (error) => faults.push(error),
    });
    for (let day = 0; day < 6; day += 1) {
      await makeCall(bench, `day ${day}`);
      for (let hour = 0; hour < 24; hour += 1) await bench.clock.advance(3_600_000);
    }
    await upkeep.close();
    expect(faults).toEqual([]);
    expect(recovered).toEqual(["orphan"]);
    const anchors = (await bench.store.documents.list("anchors")).map(({ key }) => key);
    expect(anchors.length).toBeGreaterThanOrEqual(3);
    expect(anchors.length).toBeLessThanOrEqual(5);
    const openings = await bench.store.records.query({ kinds: ["opened"] });
    expect(openings.map(({ callId }) => callId)).not.toContain("day 0");
    expect(openings.map(({ callId }) => callId)).toContain("day 5");
    expect(await bench.store.records.query({ kinds: ["audit.pruned"] })).not.toEqual([]);
    expect(await verifyAudit(bench.store)).toMatchObject({ ok: true, lost: 0 });
    const before = bench.clock.pending();
    await upkeep.close();
    expect(bench.clock.pending()).toBe(before);
  });

  it("ends while it waits for another process", async () => {
    const bench = await openAuditBench();
    const gone = await openAuditBench({ dir: bench.dir });
    await gone.audit.open(call({ callId: "orphan" }));
    await gone.store.close();
    const lease = await bench.store.leases.acquire("audit.recover", new AbortController().signal);
    const upkeep = startUpkeep({
      store: bench.store,
      clock: bench.clock,
      retentionMs: () => DAY,
      onRecovered: () => undefined,
      onFault: () => undefined,
    });
    await bench.clock.advance(100);
    await upkeep.close();
    await lease.release();
    expect(await bench.store.records.listOpen()).toHaveLength(1);
  });
});
