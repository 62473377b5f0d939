import { describe, expect, it } from "vitest";
import type { RecordFilter, Store } from "../../../src/store/store.ts";
import { openTestStore } from "./temp-state.ts";

/** More than two steps of a walk. */
const COUNT = 45_000;
const rare = [4, 20_000, 20_001, 44_999];

async function numbers(store: Store, filter: RecordFilter): Promise<unknown[]> {
  return (await store.records.query(filter)).map(({ body }) => body["number"]);
}

describe("reading a long log", () => {
  it("finds what hardly anything fits, from both ends, by every route", async () => {
    const store = await openTestStore();
    for (let number = 0; number < COUNT; number += 1) {
      const isRare = rare.includes(number);
      void store.records.append(
        {
          callId: isRare ? "rare" : `call ${number}`,
          kind: isRare ? "rare" : "note",
          at: number,
          body: { number, tool: isRare ? "rare" : "common", server: "s" },
        },
        "batched",
      );
      if (number % 5_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await store.flush();
    const writer = store.instances.self.id;
    const backwards = [...rare].reverse();
    for (const filter of [
      { tool: "rare" },
      { kinds: ["rare"] },
      { callId: "rare" },
      { server: "s", tool: "rare" },
      { writer, tool: "rare" },
    ]) {
      expect(await numbers(store, filter)).toEqual(rare);
      expect(await numbers(store, { ...filter, newestFirst: true })).toEqual(backwards);
      expect(await numbers(store, { ...filter, newestFirst: true, limit: 2 })).toEqual(backwards.slice(0, 2));
      expect(await numbers(store, { ...filter, fromMs: 20_001 })).toEqual([20_001, 44_999]);
      expect(await numbers(store, { ...filter, fromMs: 19_990, toMs: 20_000, newestFirst: true })).toEqual([
        20_000,
      ]);
    }
    expect(await numbers(store, { tool: "none" })).toEqual([]);
    expect(await numbers(store, { limit: 1_200, newestFirst: true })).toEqual(
      Array.from({ length: 1_200 }, (_, at) => COUNT - 1 - at),
    );
    const scanned: unknown[] = [];
    for await (const { body } of store.records.scan({ tool: "rare" })) scanned.push(body["number"]);
    expect(scanned).toEqual(rare);
    expect(await numbers(store, { writer: "nobody" })).toEqual([]);
  });
});
