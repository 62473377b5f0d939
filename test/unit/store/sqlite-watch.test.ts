import { describe, expect, it } from "vitest";
import { openTestStore, tempDir } from "./temp-state.ts";

describe("watching another store's changes", () => {
  it("tells within one poll, only the collection that changed, and once for many changes", async () => {
    const dir = tempDir();
    const [one, other] = [await openTestStore({ dir }), await openTestStore({ dir })];
    const told: string[] = [];
    one.watch("pins", () => told.push("pins"));
    one.watch("eras", () => told.push("eras"));
    for (let version = 1; version <= 5; version += 1) await other.documents.put("pins", "a", version);
    expect(told).toEqual([]);
    await one.clock.advance(100);
    expect(told).toEqual(["pins"]);
    await one.clock.advance(1_000);
    expect(told).toEqual(["pins"]);
  });

  it("is not fooled by its own changes in between", async () => {
    const dir = tempDir();
    const [one, other] = [await openTestStore({ dir }), await openTestStore({ dir })];
    let told = 0;
    one.watch("pins", () => {
      told += 1;
    });
    await other.documents.put("pins", "a", 1);
    await one.documents.put("pins", "b", 1);
    await one.clock.advance(0);
    const own = told;
    await one.clock.advance(100);
    expect(own).toBe(1);
    expect(told).toBe(2);
    await one.documents.put("pins", "b", 2);
    await other.documents.put("eras", "c", 1);
    await one.clock.advance(1_000);
    expect(told).toBe(3);
  });

  it("polls only while somebody listens", async () => {
    const store = await openTestStore();
    const before = store.clock.pending();
    const off = store.watch("pins", () => undefined);
    const offToo = store.watch("eras", () => undefined);
    expect(store.clock.pending()).toBe(before + 1);
    off();
    expect(store.clock.pending()).toBe(before + 1);
    offToo();
    expect(store.clock.pending()).toBe(before);
  });

  it("goes on after a listener failed, and reports it", async () => {
    const dir = tempDir();
    const faults: unknown[] = [];
    const one = await openTestStore({ dir, onFault: (error) => faults.push(error) });
    const other = await openTestStore({ dir });
    one.watch("pins", () => {
      throw new Error("a listener failed");
    });
    for (let version = 1; version <= 2; version += 1) {
      await other.documents.put("pins", "a", version);
      await one.clock.advance(100);
    }
    expect(faults).toHaveLength(2);
  });
});
