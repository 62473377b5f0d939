import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { hashStoredRecord } from "../../../src/store/record-hash.ts";
import type { ChainVerdict, RecordInput, Store } from "../../../src/store/store.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

const record = (number: number): RecordInput => ({
  callId: `call ${number}`,
  kind: "opened",
  at: number,
  body: { number },
});

/** A store with six records, and its file as somebody sees it who has SQLite and bad intentions. */
async function openTampered(): Promise<{
  store: Store;
  file: InstanceType<typeof DatabaseSync>;
  readonly verify: () => Promise<ChainVerdict | undefined>;
}> {
  const dir = tempDir();
  const store = await openTestStore({ dir });
  for (let number = 1; number <= 6; number += 1) await store.records.append(record(number), "durable");
  const file = new DatabaseSync(join(dir, "state.db"));
  return { store, file, verify: async () => (await store.records.verify())[0] };
}

const unlock =
  "DROP TRIGGER records_are_never_updated; DROP TRIGGER records_are_only_pruned; DROP TRIGGER chains_only_grow;";

describe("the schema", () => {
  it.each([
    "UPDATE records SET body = '{}' WHERE sequence = 3",
    "DELETE FROM records WHERE sequence = 1",
    "DELETE FROM records",
    "UPDATE chains SET sequence = 5",
    "UPDATE chains SET pruned_to = 7",
    "DELETE FROM chains",
  ])("refuses: %s", async (sql) => {
    const { file, verify } = await openTampered();
    expect(() => file.exec(sql)).toThrow(expect.objectContaining({ code: "ERR_SQLITE_ERROR" }));
    file.close();
    expect(await verify()).toMatchObject({ ok: true, length: 6 });
  });
});

describe("verification", () => {
  it.each([
    ["a changed body", "UPDATE records SET body = '{\"number\":30}' WHERE sequence = 3", 3],
    ["a changed time", "UPDATE records SET at = 30 WHERE sequence = 3", 3],
    ["a changed kind", "UPDATE records SET kind = 'closed' WHERE sequence = 6", 6],
    ["another call", "UPDATE records SET call_id = 'x' WHERE sequence = 1", 1],
    ["a changed hash", `UPDATE records SET hash = '${"a".repeat(64)}' WHERE sequence = 4`, 4],
    ["a record taken out", "DELETE FROM records WHERE sequence = 3", 3],
    ["the first taken out", "DELETE FROM records WHERE sequence = 1", 1],
    ["the newest taken out", "DELETE FROM records WHERE sequence = 6", 6],
    ["all of them taken out", "DELETE FROM records", 1],
    [
      "a head put back with its records",
      "DELETE FROM records WHERE sequence > 4; UPDATE chains SET sequence = 4",
      4,
    ],
    [
      "two that changed places",
      "UPDATE records SET sequence = 60 WHERE sequence = 3; UPDATE records SET sequence = 3 WHERE sequence = 4; UPDATE records SET sequence = 4 WHERE sequence = 60",
      3,
    ],
    [
      "a record behind the head",
      "INSERT INTO records SELECT 99, chain, 7, call_id, kind, at, server, tool, principal, body, hash, hash FROM records WHERE sequence = 6",
      7,
    ],
    ["another writer's name", "UPDATE chains SET writer = 'x'", 1],
  ])("finds %s", async (_what, sql, brokenAt) => {
    const { file, verify } = await openTampered();
    file.exec(unlock + sql);
    file.close();
    expect(await verify()).toMatchObject({ ok: false, brokenAt, reason: expect.any(String) });
  });

  it("finds records whose chain was taken away", async () => {
    const { file, verify } = await openTampered();
    file.exec(`DROP TRIGGER chains_stay_while_they_have_records; DELETE FROM chains`);
    file.close();
    expect(await verify()).toMatchObject({ ok: false });
  });

  it("of one chain says nothing about another that is broken", async () => {
    const { store, file } = await openTampered();
    file.exec(
      `${unlock} UPDATE records SET at = 0 WHERE sequence = 2; INSERT INTO chains VALUES (50, 'other', 0, '', 0, '')`,
    );
    file.close();
    expect(await store.records.verify("other")).toEqual([{ writer: "other", length: 0, ok: true }]);
  });
});

describe("appending", () => {
  it("batched lags behind by 25 ms and no more; a durable one takes it along", async () => {
    const dir = tempDir();
    const [store, other] = [await openTestStore({ dir }), await openTestStore({ dir })];
    const seen = async (): Promise<number> => (await other.records.query({})).length;
    void store.records.append(record(1), "batched");
    await store.clock.advance(24);
    expect(await seen()).toBe(0);
    await store.clock.advance(1);
    expect(await seen()).toBe(1);
    void store.records.append(record(2), "batched");
    await store.records.append(record(3), "durable");
    expect(await seen()).toBe(3);
  });

  it("does not wait for the timer when much is waiting", async () => {
    const store = await openTestStore();
    await Promise.all(
      Array.from({ length: 500 }, (_, number) => store.records.append(record(number), "batched")),
    );
    expect((await store.records.heads())[0]?.sequence).toBe(500);
  });

  it.each([
    ["a time that is none", { at: Number.NaN }],
    ["a call id that is not well-formed", { callId: "\ud800" }],
    ["a call id with NUL", { callId: "a\0b" }],
    ["a call id without an end", { callId: "c".repeat(1_000) }],
    ["a body with a bigint", { body: { n: 1n } as never }],
  ])("refuses %s alone", async (_what, part) => {
    const store = await openTestStore();
    const wrong = store.records.append({ ...record(1), ...part }, "durable");
    const right = store.records.append(record(2), "durable");
    await expect(wrong).rejects.toMatchObject({ code: "audit_unavailable" });
    await right;
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: 1 }]);
  });

  it("hashes as the published rule says: canonical JSON of the record without its hash", async () => {
    const store = await openTestStore();
    await store.records.append(
      {
        callId: 'quote " \u{1f600}',
        kind: "opened",
        at: 1.4,
        body: { b: 1, a: { d: -0, c: [1e21, "\u0000\ud800"] } },
      },
      "durable",
    );
    const [stored] = await store.records.query({});
    expect(stored).toBeDefined();
    if (stored !== undefined) expect(hashStoredRecord(stored)).toBe(stored.hash);
  });
});

describe("pruning", () => {
  it("gives the disk back what is free", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const text = "x".repeat(2_000);
    for (let number = 0; number < 3_000; number += 1) {
      void store.records.append({ ...record(number), body: { text } }, "batched");
    }
    await store.flush();
    const pages = (): number => {
      const file = new DatabaseSync(join(dir, "state.db"), { readOnly: true });
      const count = Number(file.prepare("PRAGMA page_count").get()?.["page_count"]);
      file.close();
      return count;
    };
    const before = pages();
    expect(await store.records.prune(2_900)).toBe(2_900);
    expect(pages()).toBeLessThan(before / 10);
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: 100 }]);
  });

  it("forgets an emptied chain once its writer is gone, but never its own or a living one", async () => {
    const dir = tempDir();
    const [store, living, leaving] = [
      await openTestStore({ dir }),
      await openTestStore({ dir }),
      await openTestStore({ dir }),
    ];
    for (const one of [store, living, leaving]) await one.records.append(record(1), "durable");
    await leaving.close();
    expect(await store.records.prune(100)).toBe(3);
    const writers = (await store.records.heads()).map(({ writer }) => writer);
    expect(writers).toEqual([store.instances.self.id, living.instances.self.id]);
  });

  it("of a writer that was wrongly taken for dead makes it begin a new chain", async () => {
    const dir = tempDir();
    const [store, victim] = [await openTestStore({ dir }), await openTestStore({ dir })];
    await victim.records.append(record(1), "durable");
    await store.instances.remove(victim.instances.self.id);
    await store.records.prune(100);
    await expect(victim.records.append(record(2), "durable")).rejects.toMatchObject({
      code: "audit_unavailable",
    });
    await victim.records.append(record(3), "durable");
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: 1 }]);
  });
});
