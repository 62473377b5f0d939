/** Clauses about watching, flushing and closing. */
import assert from "node:assert/strict";
import type { ContractCase } from "../contract.ts";
import type { Collection, Store } from "../store.ts";
import { makeRecord } from "./records.ts";

/** Resolves at the next change; the listener is on before this returns. */
function nextChange(store: Store, topic: Collection | "records"): Promise<void> {
  return new Promise((resolve) => {
    const off = store.watch(topic, () => {
      off();
      resolve();
    });
  });
}

export const sharingCases: readonly ContractCase[] = [
  {
    name: "watching tells every kind of change of its own process and of others",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      for (const store of [one, other]) {
        for (const change of [
          () => store.documents.put("approvals", "a", 1),
          () => store.documents.put("approvals", "a", 2, { durable: false }),
          () => store.documents.delete("approvals", "a"),
        ]) {
          const told = nextChange(one, "approvals");
          await change();
          await told;
        }
        const told = nextChange(one, "records");
        await store.records.append(makeRecord(1), "durable");
        await told;
      }
    },
  },
  {
    name: "watching misses none of many changes: the last is always seen",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      let seen = 0;
      const all = new Promise<void>((resolve, reject) => {
        const look = (): void => {
          one.documents.get("health", "n").then((found) => {
            if (typeof found?.value === "number") seen = found.value;
            if (seen === 30) resolve();
          }, reject);
        };
        one.watch("health", look);
      });
      for (let count = 1; count <= 30; count += 1)
        await other.documents.put("health", "n", count, { durable: false });
      await all;
      assert.equal(seen, 30);
    },
  },
  {
    name: "a listener that was taken off, or that throws, disturbs nobody",
    async run(stores) {
      const store = await stores.open();
      let calls = 0;
      const off = store.watch("pins", () => {
        calls += 1;
      });
      off();
      off();
      store.watch("pins", () => {
        throw new Error("a listener failed");
      });
      const told = nextChange(store, "pins");
      await store.documents.put("pins", "a", 1);
      await told;
      assert.equal(calls, 0);
    },
  },
  {
    name: "closing writes what was batched, and ends everything else with interrupted",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const appended = one.records.append(makeRecord(1), "batched");
      await one.close();
      await appended;
      await one.close();
      assert.equal((await other.records.query({})).length, 1);
      const late = { code: "interrupted" };
      await assert.rejects(one.documents.get("pins", "a"), late);
      await assert.rejects(one.documents.put("pins", "a", 1), late);
      await assert.rejects(one.records.append(makeRecord(2), "durable"), late);
      await assert.rejects(one.records.query({}), late);
      await assert.rejects(one.leases.acquire("turn", new AbortController().signal), late);
      one.watch("pins", () => undefined)();
    },
  },
];
