import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { openVault } from "../../../src/auth/vault.ts";
import { createLastGood, type LastGood, type LastGoodKey } from "../../../src/results/last-good.ts";
import { createRests } from "../../../src/results/rests.ts";
import type { Sealer } from "../../../src/results/sealer.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { Store } from "../../../src/store/store.ts";

let dir: string;
let clock: ManualClock;
let store: Store;
let sealer: Sealer;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "portcullis-kept-"));
  clock = createManualClock();
  const random = createSeededRandom(3);
  store = await openSqliteStore({ dir, role: "test", clock, random });
  const vault = openVault({ dir, random, key: createHash("sha256").update("key").digest() });
  sealer = {
    seal: (plain, context) => vault.seal(plain, context),
    open: (sealed, context) => {
      try {
        return vault.open(sealed, context);
      } catch {
        return undefined;
      }
    },
  };
});

afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

describe("rests", () => {
  const make = (more: object = {}): ReturnType<typeof createRests> =>
    createRests({ documents: store.documents, clock, sealer, ...more });
  const long = "zeile 😀\n".repeat(5_000);

  it("gives back page by page exactly what was kept, never a torn character", async () => {
    const rests = make();
    const { pages, isCut } = await rests.put("call-1", "local", {
      text: long,
      pageBytes: 4_000,
    });
    expect(isCut).toBe(false);
    let joined = "";
    for (let page = 1; page <= pages; page += 1) {
      const got = await rests.readMore("call-1", "local", page);
      expect(got).toMatchObject({ page, pages });
      expect(got?.text.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(got?.text ?? "")).toBeLessThanOrEqual(4_000);
      joined += got?.text ?? "";
    }
    expect(joined).toBe(long);
    expect(await rests.readMore("call-1", "local", pages + 1)).toBeUndefined();
  });

  it("shows nothing to another principal, and nothing for an odd id or page [GW-23]", async () => {
    const rests = make();
    await rests.put("call-1", "ann", {
      text: "secret",
      pageBytes: 2_000,
    });
    expect(await rests.readMore("call-1", "bob", 1)).toBeUndefined();
    for (const page of [0, -1, 1.5, Number.NaN, 1e9])
      expect(await rests.readMore("call-1", "ann", page)).toBeUndefined();
    for (const id of ["", "../x", "call-1 p00001", "x".repeat(65)])
      expect(await rests.readMore(id, "ann", 1)).toBeUndefined();
    await expect(rests.put("a b", "ann", { text: "", pageBytes: 1 })).rejects.toThrow(TypeError);
  });

  it("stores nothing in the clear", async () => {
    await make().put("call-1", "local", { text: "zebra", pageBytes: 2_000 });
    expect(JSON.stringify(await store.documents.list("rests"))).not.toContain("zebra");
  });

  it("is gone after its time", async () => {
    const rests = make({ maxAgeMs: 60_000 });
    await rests.put("call-1", "local", { text: "x", pageBytes: 2_000 });
    await clock.advance(59_000);
    expect(await rests.readMore("call-1", "local", 1)).toBeDefined();
    await clock.advance(1_000);
    expect(await rests.readMore("call-1", "local", 1)).toBeUndefined();
  });

  it("is bounded in size and number", async () => {
    const rests = make({ maxBytes: 10_000, maxRests: 2 });
    const summary = await rests.put("one", "local", {
      text: "x".repeat(50_000),
      pageBytes: 4_000,
    });
    expect(summary).toEqual({ pages: 3, isCut: true });
    await rests.put("two", "local", { text: "2", pageBytes: 2_000 });
    await rests.put("three", "local", { text: "3", pageBytes: 2_000 });
    expect(await rests.readMore("one", "local", 1)).toBeUndefined();
    expect(await rests.readMore("two", "local", 1)).toBeDefined();
    expect((await store.documents.list("rests")).length).toBe(2);
  });

  it("does not open a page under another name", async () => {
    const rests = make();
    await rests.put("one", "local", { text: "x".repeat(3_000), pageBytes: 2_000 });
    const first = await store.documents.get("rests", "one p00001");
    await store.documents.put("rests", "one p00002", first?.value ?? null);
    expect(await rests.readMore("one", "local", 2)).toBeUndefined();
  });
});

describe("last good results", () => {
  const key = (more: Partial<LastGoodKey> = {}): LastGoodKey => ({
    connection: { server: "files", credential: "shared" },
    principal: "local",
    tool: "read",
    arguments: "aa",
    pin: "p1",
    ...more,
  });
  const make = (more: object = {}): LastGood =>
    createLastGood({ documents: store.documents, clock, sealer, ...more });
  const raw: JsonValue = { content: [{ type: "text", text: "zebra" }] };
  const DAY = 86_400_000;

  it("answers with the newest, and with nothing for anything else [CCH-01]", async () => {
    const lastGood = make();
    lastGood.remember(key(), { content: [] });
    lastGood.remember(key(), raw);
    expect(await lastGood.recall(key(), DAY)).toEqual({ raw, asOf: clock.now() });
    for (const other of [
      key({ tool: "list" }),
      key({ principal: "bob" }),
      key({ arguments: "bb" }),
      key({ pin: "p2" }),
      key({ connection: { server: "files", credential: "bob" } }),
    ]) {
      expect(await lastGood.recall(other, DAY)).toBeUndefined();
    }
    await lastGood.flush();
  });

  it("is found by the next process, sealed", async () => {
    const first = make();
    first.remember(key(), raw);
    await first.flush();
    expect(await make().recall(key(), DAY)).toEqual({ raw, asOf: clock.now() });
    expect(JSON.stringify(await store.documents.list("last-good"))).not.toContain("zebra");
    expect(await make({ sealer: { ...sealer, open: () => undefined } }).recall(key(), DAY)).toBeUndefined();
  });

  it("is written at most once a minute for the same key, and at the end", async () => {
    const lastGood = make();
    lastGood.remember(key(), 1);
    await lastGood.flush();
    lastGood.remember(key(), 2);
    expect(await make().recall(key(), DAY)).toMatchObject({ raw: 1 });
    await lastGood.flush();
    expect(await make().recall(key(), DAY)).toMatchObject({ raw: 2 });
    await clock.advance(60_000);
    lastGood.remember(key(), 3);
    await lastGood.flush();
    expect((await store.documents.list("last-good"))[0]?.version).toBe(3);
  });

  it("gets too old, for the caller and at all", async () => {
    const lastGood = make({ maxAgeMs: 100_000 });
    lastGood.remember(key(), raw);
    await lastGood.flush();
    await clock.advance(50_000);
    expect(await lastGood.recall(key(), 40_000)).toBeUndefined();
    expect(await lastGood.recall(key(), DAY)).toBeDefined();
    await clock.advance(60_000);
    expect(await lastGood.recall(key(), DAY)).toBeUndefined();
    expect(await make({ maxAgeMs: 100_000 }).recall(key(), DAY)).toBeUndefined();
  });

  it("keeps no result that is too large, and lets it replace nothing", async () => {
    const lastGood = make({ maxCharacters: 1_000 });
    lastGood.remember(key(), raw);
    lastGood.remember(key(), { content: "x".repeat(2_000) });
    expect(await lastGood.recall(key(), DAY)).toMatchObject({ raw });
    await lastGood.flush();
  });

  it("is bounded: so many places per connection, so many in memory", async () => {
    const lastGood = make({ places: 8, inMemory: 4 });
    for (let at = 0; at < 200; at += 1) lastGood.remember(key({ arguments: String(at) }), at);
    await lastGood.flush();
    expect((await store.documents.list("last-good")).length).toBeLessThanOrEqual(8);
    // Whatever survived is the right one.
    for (let at = 0; at < 200; at += 1) {
      const got = await lastGood.recall(key({ arguments: String(at) }), DAY);
      if (got !== undefined) expect(got.raw).toBe(at);
    }
  });

  it("costs a call neither a seal nor a write; both come later, some at a time", async () => {
    let seals = 0;
    const counting: Sealer = { ...sealer, seal: (...given) => ((seals += 1), sealer.seal(...given)) };
    const lastGood = make({ sealer: counting });
    for (let at = 0; at < 100; at += 1) lastGood.remember(key({ arguments: String(at) }), at);
    expect(seals).toBe(0);
    const steps: number[] = [];
    for (let step = 0; step < 5; step += 1) {
      const before = seals;
      await clock.advance(5_000);
      steps.push(seals - before);
    }
    expect(steps).toEqual([32, 32, 32, 4, 0]);
  });

  it("survives a store that fails", async () => {
    const faults: unknown[] = [];
    const documents = { ...store.documents, put: () => Promise.reject(new Error("disk full")) };
    const lastGood = make({ documents, onFault: (error: unknown) => faults.push(error) });
    lastGood.remember(key(), raw);
    await lastGood.flush();
    expect(faults.length).toBeGreaterThan(0);
    expect(await lastGood.recall(key(), DAY)).toMatchObject({ raw });
  });
});
