import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { checkIntegrity, runProgram, tempDir } from "./store-processes.ts";

describe("several processes on one state", () => {
  it("open a fresh directory at once, three times over", async () => {
    for (let round = 0; round < 3; round += 1) {
      const dir = tempDir();
      const runs = await Promise.all(Array.from({ length: 4 }, () => runProgram("writer", [dir, "3"])));
      for (const run of runs) {
        expect(run.stderr).toBe("");
        expect(run.exitCode).toBe(0);
      }
      expect(checkIntegrity(dir)).toBe("ok");
    }
  }, 60_000);

  it("wait for a lock that one of them holds, with nothing else to keep them alive", async () => {
    const dir = tempDir();
    await (await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom })).close();
    const file = new DatabaseSync(join(dir, "state.db"));
    file.exec("BEGIN IMMEDIATE");
    const running = runProgram("writer", [dir, "3"]);
    // Not to win a race: shorter, the process would find the lock free and the test would only show less.
    await systemClock.sleep(1_500);
    file.exec("COMMIT");
    file.close();
    const run = await running;
    expect(run.stderr).toBe("");
    expect(run.lines.at(-1)).toEqual(["done"]);
  }, 30_000);

  it("append and compare-and-set 500 times each beside readers: no error, nothing lost", async () => {
    const dir = tempDir();
    const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
    try {
      const runs = await Promise.all([
        runProgram("writer", [dir, "500", "2"]),
        runProgram("writer", [dir, "500", "2"]),
      ]);
      for (const run of runs) {
        expect(run.stderr).toBe("");
        expect(run.exitCode).toBe(0);
        expect(run.lines.at(-1)).toEqual(["done"]);
      }
      expect(await store.documents.get("breakers", "shared")).toMatchObject({ value: 1_000, version: 1_000 });
      const verdicts = await store.records.verify();
      expect(verdicts.map(({ ok, length }) => ({ ok, length }))).toEqual([
        { ok: true, length: 1_500 },
        { ok: true, length: 1_500 },
      ]);
      const calls = new Set<string>();
      for await (const { callId } of store.records.scan({})) calls.add(callId);
      expect(calls.size).toBe(3_000);
      expect(await store.instances.list()).toEqual([store.instances.self]);
    } finally {
      await store.close();
    }
    expect(checkIntegrity(dir)).toBe("ok");
  }, 120_000);
});
