import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openTestStore, tempDir } from "./temp-state.ts";

describe("documents that run out", () => {
  it("are gone at their time, and swept from the file within a minute", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const now = store.clock.now();
    await store.documents.put("grants", "short", 1, { expiresAt: now + 1_000 });
    await store.documents.put("grants", "long", 2, { expiresAt: now + 1_000_000 });
    await store.documents.put("grants", "for good", 3);
    let changes = 0;
    store.watch("grants", () => {
      changes += 1;
    });
    expect((await store.documents.get("grants", "short"))?.expiresAt).toBe(now + 1_000);
    await store.clock.advance(1_000);
    expect(await store.documents.get("grants", "short")).toBeUndefined();
    await store.clock.advance(60_000);
    expect(changes).toBe(1);
    const file = new DatabaseSync(join(dir, "state.db"), { readOnly: true });
    expect(
      file
        .prepare("SELECT key FROM documents ORDER BY key")
        .all()
        .map((row) => row["key"]),
    ).toEqual(["for good", "long"]);
    file.close();
  });

  it("are swept to the last, however many ran out together", async () => {
    const store = await openTestStore();
    const soon = store.clock.now() + 10;
    const puts = Array.from({ length: 1_200 }, (_, at) =>
      store.documents.put("last-good", String(at), at, { expiresAt: soon, durable: false }),
    );
    await Promise.all(puts);
    const swept = new Promise<void>((resolve) => void store.watch("last-good", resolve));
    await store.clock.advance(61_000);
    await swept;
    expect(await store.documents.list("last-good")).toEqual([]);
  });
});

describe("documents", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY])("refuse %d as an expiry", async (expiresAt) => {
    const store = await openTestStore();
    await expect(store.documents.put("pins", "a", 1, { expiresAt })).rejects.toMatchObject({
      code: "internal",
    });
  });

  it("keep whole milliseconds of a clock that counts finer", async () => {
    const store = await openTestStore();
    await store.clock.advance(0.6);
    const put = await store.documents.put("pins", "a", 1, { expiresAt: store.clock.now() + 10 });
    expect(put).toMatchObject({
      updatedAt: Math.round(store.clock.now()),
      expiresAt: Math.round(store.clock.now() + 10),
    });
  });

  it("refuse what is no JSON, and keys without an end", async () => {
    const store = await openTestStore();
    await expect(store.documents.put("pins", "a", undefined as unknown as null)).rejects.toMatchObject({
      code: "internal",
    });
    await expect(store.documents.put("pins", "k".repeat(5_000), 1)).rejects.toMatchObject({
      code: "internal",
    });
  });

  it("work in memory alone", async () => {
    const store = await openTestStore({ dir: ":memory:" });
    await store.documents.put("pins", "a", 1);
    await store.records.append({ callId: "c", kind: "opened", at: 1, body: {} }, "durable");
    expect((await store.documents.get("pins", "a"))?.value).toBe(1);
    expect(await store.records.verify()).toEqual([{ writer: store.instances.self.id, length: 1, ok: true }]);
    expect(await store.instances.listDead()).toEqual([]);
  });
});
