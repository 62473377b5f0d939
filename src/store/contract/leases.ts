/** Clauses about instances and leases. */
import assert from "node:assert/strict";
import type { ContractCase } from "../contract.ts";

const never = new AbortController().signal;

export const leaseCases: readonly ContractCase[] = [
  {
    name: "every open store is an instance, none of them is dead, and closing takes it out",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const ids = async (): Promise<string[]> => (await one.instances.list()).map(({ id }) => id).sort();
      assert.deepEqual(await ids(), [one.instances.self.id, other.instances.self.id].sort());
      assert.deepEqual(await one.instances.listDead(), []);
      assert.deepEqual(await other.instances.listDead(), []);
      assert.equal(one.instances.self.pid, process.pid);
      const seen = (await other.instances.list()).find(({ id }) => id === one.instances.self.id);
      assert.deepEqual(seen, one.instances.self);
      await other.close();
      assert.deepEqual(await ids(), [one.instances.self.id]);
      await one.instances.remove("nobody");
    },
  },
  {
    name: "a lease is held by one at a time, and passes on when it is released",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const held = await one.leases.acquire("refresh github", never);
      assert.equal(held.signal.aborted, false);
      const order: string[] = [];
      const waiting = other.leases.acquire("refresh github", never).then((lease) => {
        order.push("other");
        return lease;
      });
      const elsewhere = await other.leases.acquire("refresh notion", never);
      order.push("released");
      await held.release();
      const passed = await waiting;
      assert.deepEqual(order, ["released", "other"]);
      await passed.release();
      await elsewhere.release();
      await held.release();
    },
  },
  {
    name: "those who wait for a lease get it in the order in which they came, across stores",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const held = await one.leases.acquire("turn", never);
      const order: number[] = [];
      const waits: Promise<void>[] = [];
      for (const [number, store] of [one, other, one, other].entries()) {
        waits.push(
          store.leases.acquire("turn", never).then(async (lease) => {
            order.push(number);
            await lease.release();
          }),
        );
        // The place in the queue is taken when a write made after it is acknowledged.
        await store.documents.put("health", "marker", number, { durable: false });
      }
      await held.release();
      await Promise.all(waits);
      assert.deepEqual(order, [0, 1, 2, 3]);
    },
  },
  {
    name: "waiting for a lease ends with the reason of the signal, and holds up nobody behind it",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const held = await one.leases.acquire("turn", never);
      const impatient = new AbortController();
      const givenUp = other.leases.acquire("turn", impatient.signal);
      const patient = other.leases.acquire("turn", never);
      impatient.abort(new Error("no longer wanted"));
      await assert.rejects(givenUp, /no longer wanted/);
      await assert.rejects(one.leases.acquire("free", impatient.signal), /no longer wanted/);
      await held.release();
      await (await patient).release();
    },
  },
  {
    name: "closing a store aborts what it holds and lets the next one in",
    async run(stores) {
      const one = await stores.open();
      const other = await stores.openOther();
      const held = await other.leases.acquire("turn", never);
      const waiting = one.leases.acquire("turn", never);
      await other.close();
      assert.equal(held.signal.aborted, true);
      await (await waiting).release();
    },
  },
];
