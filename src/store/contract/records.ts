/** Clauses about records: order, chains, filters. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../base/json.ts";
import type { ContractCase } from "../contract.ts";
import { FIRST_PREVIOUS_HASH, hashStoredRecord } from "../record-hash.ts";
import type { RecordFilter, RecordInput, Store, StoredRecord } from "../store.ts";

/** A record of call `call N`, made at N seconds after 1970. */
export function makeRecord(number: number, kind = "opened", body: JsonObject = { number }): RecordInput {
  return { callId: `call ${number}`, kind, at: number * 1_000, body };
}

/** Each record must tie to the one before it, in its own chain. */
export function assertChained(
  records: readonly StoredRecord[],
  previousHash = FIRST_PREVIOUS_HASH,
  sequence = 0,
): void {
  let before = { hash: previousHash, sequence };
  for (const record of records) {
    assert.equal(record.sequence, before.sequence + 1);
    assert.equal(record.previousHash, before.hash);
    assert.equal(record.hash, hashStoredRecord(record));
    before = record;
  }
}

async function listNumbers(store: Store, filter: RecordFilter): Promise<unknown[]> {
  return (await store.records.query(filter)).map(({ body }) => body["number"]);
}

export const recordCases: readonly ContractCase[] = [
  {
    name: "records of one writer are a chain without a gap, in the order of their appending",
    async run(stores) {
      const store = await stores.open();
      const appended = Array.from({ length: 30 }, (_, at) =>
        store.records.append(
          makeRecord(at, "opened", { number: at, text: "\u{1f600}\u0000\ud800" }),
          at % 3 === 0 ? "durable" : "batched",
        ),
      );
      await store.flush();
      await Promise.all(appended);
      const records = await store.records.query({ writer: store.instances.self.id });
      assert.deepEqual(
        records.map(({ body }) => body["number"]),
        Array.from({ length: 30 }, (_, at) => at),
      );
      assertChained(records);
      assert.deepEqual(await store.records.heads(), [
        { writer: store.instances.self.id, sequence: 30, hash: records.at(-1)?.hash, prunedTo: 0 },
      ]);
    },
  },
  {
    name: "what a process appended it sees in its own queries, batched or not",
    async run(stores) {
      const { records } = await stores.open();
      void records.append(makeRecord(1), "batched");
      void records.append(makeRecord(2), "durable");
      void records.append(makeRecord(3), "batched");
      assert.equal((await records.query({})).length, 3);
      void records.append(makeRecord(4), "batched");
      assert.equal((await records.listOpen()).length, 4);
      void records.append(makeRecord(5), "batched");
      assert.equal((await records.verify())[0]?.length, 5);
    },
  },
  {
    name: "an acknowledged append is seen by every store",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      await one.records.append(makeRecord(1), "durable");
      await one.records.append(makeRecord(2), "batched");
      assert.deepEqual(await listNumbers(other, {}), [1, 2]);
      void one.records.append(makeRecord(3), "batched");
      await one.flush();
      assert.deepEqual(await listNumbers(other, {}), [1, 2, 3]);
    },
  },
  {
    name: "each writer has its own chain, and all of them verify",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const appends = [one, other].flatMap((store, at) =>
        Array.from({ length: 40 }, (_, number) =>
          store.records.append(makeRecord(number), at === 0 ? "durable" : "batched"),
        ),
      );
      await Promise.all([...appends, one.flush(), other.flush()]);
      for (const store of [one, other])
        assertChained(await one.records.query({ writer: store.instances.self.id }));
      const verdicts = await other.records.verify();
      assert.deepEqual(
        new Map(verdicts.map(({ writer, length, ok }) => [writer, { length, ok }])),
        new Map([one, other].map((store) => [store.instances.self.id, { length: 40, ok: true }])),
      );
      assert.equal((await one.records.verify(other.instances.self.id)).length, 1);
      assert.deepEqual(await one.records.verify("nobody"), []);
    },
  },
  {
    name: "every part of a filter narrows, together and alone",
    async run(stores) {
      const store = await stores.open();
      const bodies: readonly JsonObject[] = [
        { number: 0, server: "github", tool: "search", principal: "ann" },
        { number: 1, server: "github", tool: "merge", principal: "bob" },
        { number: 2, server: "notion", tool: "search", principal: "ann" },
        { number: 3 },
      ];
      await Promise.all(
        bodies.map((body, at) =>
          store.records.append(makeRecord(at, at === 1 ? "closed" : "opened", body), "durable"),
        ),
      );
      const writer = store.instances.self.id;
      const table: readonly (readonly [RecordFilter, readonly number[]])[] = [
        [{}, [0, 1, 2, 3]],
        [{ server: "github" }, [0, 1]],
        [{ tool: "search" }, [0, 2]],
        [{ principal: "ann" }, [0, 2]],
        [{ server: "github", tool: "search", principal: "ann" }, [0]],
        [{ server: "git" }, []],
        [{ kinds: ["closed"] }, [1]],
        [{ kinds: ["closed", "opened"] }, [0, 1, 2, 3]],
        [{ kinds: [] }, []],
        [{ callId: "call 2" }, [2]],
        [{ writer }, [0, 1, 2, 3]],
        [{ writer: "nobody" }, []],
        [{ writer, fromSequence: 3 }, [2, 3]],
        [{ fromMs: 1_000, toMs: 2_000 }, [1, 2]],
        [{ limit: 2 }, [0, 1]],
        [{ limit: 2, newestFirst: true }, [3, 2]],
        [{ writer, limit: 2, newestFirst: true }, [3, 2]],
        [{ limit: 0 }, []],
      ];
      for (const [filter, numbers] of table)
        assert.deepEqual(await listNumbers(store, filter), numbers, JSON.stringify(filter));
    },
  },
  {
    name: "a scan gives everything that matches, in order, however much it is",
    async run(stores) {
      const store = await stores.open();
      for (let at = 0; at < 1_200; at += 1) {
        void store.records.append(
          makeRecord(at, "note", { number: at, server: at % 2 === 0 ? "even" : "odd" }),
          "batched",
        );
      }
      const collect = async (filter: RecordFilter): Promise<unknown[]> => {
        const numbers: unknown[] = [];
        for await (const { body } of store.records.scan(filter)) numbers.push(body["number"]);
        return numbers;
      };
      const all = Array.from({ length: 1_200 }, (_, at) => at);
      assert.deepEqual(await collect({}), all);
      assert.deepEqual(await collect({ writer: store.instances.self.id, limit: 3 }), all);
      assert.deepEqual(
        await collect({ server: "odd" }),
        all.filter((at) => at % 2 === 1),
      );
      assert.equal((await store.records.query({})).length, 1_000);
    },
  },
  {
    name: "calls with an opened record and no closed one are open, whoever closes them",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      for (const number of [1, 2, 3]) await one.records.append(makeRecord(number), "durable");
      await one.records.append(makeRecord(1, "dispatched"), "durable");
      await one.records.append(makeRecord(2, "closed"), "durable");
      await other.records.append(makeRecord(4), "durable");
      assert.deepEqual(await other.records.listOpen(), [
        { callId: "call 1", writer: one.instances.self.id },
        { callId: "call 3", writer: one.instances.self.id },
        { callId: "call 4", writer: other.instances.self.id },
      ]);
      await other.records.append(makeRecord(3, "closed"), "durable");
      assert.deepEqual(
        (await one.records.listOpen()).map(({ callId }) => callId),
        ["call 1", "call 4"],
      );
    },
  },
  {
    name: "a record that cannot be written fails alone, as audit_unavailable",
    async run(stores) {
      const { records } = await stores.open();
      const cyclic: JsonObject = {};
      cyclic["self"] = cyclic;
      const before = records.append(makeRecord(1), "durable");
      const wrong = records.append(makeRecord(2, "opened", cyclic), "durable");
      const after = records.append(makeRecord(3), "durable");
      await assert.rejects(wrong, { code: "audit_unavailable" });
      await before;
      await after;
      const found = await records.query({});
      assert.deepEqual(
        found.map(({ callId }) => callId),
        ["call 1", "call 3"],
      );
      assertChained(found);
    },
  },
];
