import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { checkIntegrity, runProgram, tempDir, type Run } from "./store-processes.ts";

const ROUNDS = 20;

/** What was acknowledged and is not there. */
async function listLost(store: Store, { lines }: Run): Promise<string[]> {
  const lost: string[] = [];
  const newest = new Map<string, number>();
  for (const [kind, name = "", number] of lines) {
    if (kind === "record" && (await store.records.query({ callId: name })).length !== 1) lost.push(name);
    if (kind === "document") newest.set(name, Number(number));
  }
  for (const [name, n] of newest) {
    const found = (await store.documents.get("pins", name))?.value as { n: number } | undefined;
    if (found === undefined || found.n < n) lost.push(`${name} at ${n}`);
  }
  const counted = lines.findLast(([kind]) => kind === "counter")?.[1];
  const counter = (await store.documents.get("breakers", "shared"))?.value;
  if (counted !== undefined && !(typeof counter === "number" && counter >= Number(counted)))
    lost.push(`counter ${counted}`);
  return lost;
}

describe("a process that ends without closing its store", () => {
  it.each(["falls", "exits", "throws"])("still writes what was batched (%s)", async (end) => {
    const dir = tempDir();
    await runProgram("leaver", [dir, end]);
    const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
    expect((await store.records.query({})).map(({ callId }) => callId)).toEqual([end]);
    expect(await store.instances.listDead()).toHaveLength(1);
    await store.close();
  });
});

describe("kill -9 in the middle of writing", () => {
  it("loses nothing that was acknowledged, and leaves a sound file and chains that verify", async () => {
    const dir = tempDir();
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await runProgram("writer", [dir, "forever"], 2 + Math.floor(systemRandom.fraction() * 400));
      expect(run.stderr).toBe("");
      const writer = run.lines[0]?.[1] ?? "";
      const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
      try {
        expect(checkIntegrity(dir)).toBe("ok");
        expect(await listLost(store, run)).toEqual([]);
        const verdicts = await store.records.verify();
        expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
        expect((await store.instances.listDead()).map(({ id }) => id)).toContain(writer);
        await store.instances.remove(writer);
      } finally {
        await store.close();
      }
      acknowledged += run.lines.length - 1;
    }
    expect(acknowledged).toBeGreaterThan(ROUNDS);
  }, 120_000);

  it("while the state is being made leaves one that can be opened", async () => {
    for (let round = 0; round < 5; round += 1) {
      const dir = tempDir();
      await Promise.all([
        runProgram("writer", [dir, "forever"], 1),
        runProgram("writer", [dir, "forever"], 1),
      ]);
      const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
      expect((await store.records.verify()).filter(({ ok }) => !ok)).toEqual([]);
      await store.close();
      expect(checkIntegrity(dir)).toBe("ok");
    }
  });
});
