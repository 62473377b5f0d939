/** Clauses about pruning: the oldest go, and what is left still verifies. */
import assert from "node:assert/strict";
import type { ContractCase } from "../contract.ts";
import { assertChained, makeRecord } from "./records.ts";

export const pruneCases: readonly ContractCase[] = [
  {
    name: "pruning drops the beginning of each chain and the rest verifies, also after more appends",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      for (const store of [one, other]) {
        await Promise.all(
          Array.from({ length: 10 }, (_, number) => store.records.append(makeRecord(number), "durable")),
        );
      }
      const writer = one.instances.self.id;
      const sixth = (await one.records.query({ writer, fromSequence: 6, limit: 1 }))[0];
      assert.equal(await one.records.prune(6_000), 12);
      assert.equal(await other.records.prune(6_000), 0);
      const left = await other.records.query({ writer });
      assert.deepEqual(
        left.map(({ body }) => body["number"]),
        [6, 7, 8, 9],
      );
      assertChained(left, sixth?.hash, 6);
      await one.records.append(makeRecord(10), "durable");
      const verdicts = await other.records.verify();
      assert.deepEqual(
        verdicts.map(({ ok, length }) => ({ ok, length })),
        [
          { ok: true, length: 5 },
          { ok: true, length: 4 },
        ],
      );
      assert.equal((await other.records.heads()).find((head) => head.writer === writer)?.prunedTo, 6);
    },
  },
  {
    name: "pruning stops at the first record that is young enough, even where older ones follow",
    async run(stores) {
      const { records } = await stores.open();
      for (const number of [1, 9, 2]) await records.append(makeRecord(number), "durable");
      assert.equal(await records.prune(5_000), 1);
      assert.deepEqual(
        (await records.query({})).map(({ body }) => body["number"]),
        [9, 2],
      );
    },
  },
  {
    name: "a chain that was pruned to nothing goes on where it was",
    async run(stores) {
      const store = await stores.open();
      for (const number of [1, 2]) await store.records.append(makeRecord(number), "durable");
      const last = (await store.records.query({ newestFirst: true, limit: 1 }))[0];
      assert.equal(await store.records.prune(5_000), 2);
      assert.deepEqual(await store.records.query({}), []);
      assert.deepEqual(await store.records.verify(), [
        { writer: store.instances.self.id, length: 0, ok: true },
      ]);
      await store.records.append(makeRecord(3), "durable");
      assertChained(await store.records.query({}), last?.hash, 2);
      assert.equal((await store.records.verify())[0]?.ok, true);
    },
  },
  {
    name: "an open call whose opening was pruned is no longer listed",
    async run(stores) {
      const { records } = await stores.open();
      for (const number of [1, 9]) await records.append(makeRecord(number), "durable");
      await records.prune(5_000);
      assert.deepEqual(
        (await records.listOpen()).map(({ callId }) => callId),
        ["call 9"],
      );
    },
  },
  {
    name: "thousands are pruned while others append and verify",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      for (let number = 0; number < 1_500; number += 1)
        void one.records.append(makeRecord(number), "batched");
      await one.flush();
      const [pruned, , verdicts] = await Promise.all([
        other.records.prune(1_400_000),
        one.records.append(makeRecord(1_500), "durable"),
        one.records.verify(),
      ]);
      assert.equal(pruned, 1_400);
      for (const verdict of [...verdicts, ...(await one.records.verify())])
        assert.equal(verdict.ok, true, verdict.reason);
    },
  },
];
