import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { createCommitter, type Committer } from "../../../src/store/sqlite-commit.ts";
import { openConnection, type Connection } from "../../../src/store/sqlite-connection.ts";
import { createSqliteRecords } from "../../../src/store/sqlite-records.ts";
import { prepareStateFile } from "../../../src/store/state-directory.ts";
import { tempDir } from "./temp-state.ts";

/** A committer on a file, with every statement that it runs written down. */
interface Bench {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: ManualClock;
  readonly path: string;
  readonly statements: string[];
  readonly changes: ReadonlyMap<string, number>[];
}

let bench: Bench;

beforeEach(() => {
  const clock = createManualClock();
  const { path } = prepareStateFile(tempDir(), "state.db");
  const real = openConnection({ path, busyInThreadMs: 0 });
  migrate(real, 0);
  const statements: string[] = [];
  const changes: ReadonlyMap<string, number>[] = [];
  const connection: Connection = {
    ...real,
    exec(sql) {
      statements.push(sql);
      real.exec(sql);
    },
    run(sql, ...values) {
      statements.push(sql);
      return real.run(sql, ...values);
    },
    rollback: () => real.rollback(),
  };
  const committer = createCommitter({
    connection,
    clock,
    batchMs: 25,
    onCommitted: (seen) => changes.push(seen),
  });
  bench = { connection, committer, clock, path, statements, changes };
});

afterEach(async () => {
  await bench.committer.close().catch(() => undefined);
  bench.connection.close();
});

const insert = (key: string): string =>
  `INSERT INTO documents (collection, key, value, version, updated_at) VALUES ('pins', '${key}', '1', 1, 1)`;

const keys = (): unknown[] =>
  bench.connection.all("SELECT key FROM documents ORDER BY id").map((row) => row["key"]);

const add = (key: string): Promise<number> =>
  bench.committer.write(() => bench.connection.run(insert(key)).changes, true);

describe("group commit", () => {
  it("writes what came in one turn in one transaction, in order, synced once", async () => {
    await Promise.all(["a", "b", "c"].map(add));
    expect(keys()).toEqual(["a", "b", "c"]);
    expect(bench.statements.filter((sql) => sql === "COMMIT")).toHaveLength(1);
    expect(bench.statements.filter((sql) => sql.includes("synchronous"))).toEqual([
      "PRAGMA synchronous = FULL",
    ]);
  });

  it("syncs only where somebody asked for it", async () => {
    const sync = (): unknown => bench.connection.get("PRAGMA synchronous")?.["synchronous"];
    await bench.committer.write(() => undefined, false);
    expect(sync()).toBe(1);
    await Promise.all([
      bench.committer.write(() => undefined, false),
      bench.committer.write(() => undefined, true),
    ]);
    expect(sync()).toBe(2);
    await bench.committer.write(() => undefined, false);
    expect(sync()).toBe(1);
    await bench.committer.flush();
    expect(sync()).toBe(2);
    const before = bench.statements.length;
    await bench.committer.flush();
    expect(bench.statements.length).toBe(before);
  });

  it("syncs a group of records as soon as one of them asked for it", async () => {
    const records = createSqliteRecords({
      connection: bench.connection,
      committer: bench.committer,
      clock: bench.clock,
      writer: "w",
    });
    const record = { callId: "c", kind: "opened", at: 1, body: {} };
    await Promise.all([
      records.append(record, "batched"),
      records.append(record, "durable"),
      records.append(record, "batched"),
    ]);
    expect(bench.connection.get("PRAGMA synchronous")?.["synchronous"]).toBe(2);
    expect(bench.statements.filter((sql) => sql === "COMMIT")).toHaveLength(1);
    void records.append(record, "batched");
    await bench.clock.advance(25);
    expect(bench.connection.get("PRAGMA synchronous")?.["synchronous"]).toBe(1);
  });

  it("takes a failing task out and commits the others", async () => {
    const outcomes = await Promise.allSettled([add("a"), add("a"), add("b")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(keys()).toEqual(["a", "b"]);
    expect(bench.connection.isInTransaction).toBe(false);
  });

  it("tells after the commit which topics changed and how often so far", async () => {
    await bench.committer.write((touch) => touch("pins"), true);
    await Promise.all([
      bench.committer.write((touch) => touch("pins"), true),
      bench.committer.write((touch) => touch("eras"), true),
      bench.committer.write((touch) => touch("pins"), true),
    ]);
    await bench.committer.write(() => undefined, true);
    expect(bench.changes).toEqual([
      new Map([["pins", 1]]),
      new Map([
        ["pins", 2],
        ["eras", 1],
      ]),
    ]);
  });

  it("waits for a lock of somebody else without holding up the process, then goes on in order", async () => {
    const other = openConnection({ path: bench.path });
    other.exec("BEGIN IMMEDIATE");
    const first = add("a");
    await bench.clock.advance(0);
    const second = add("b");
    await bench.clock.advance(500);
    expect(keys()).toEqual([]);
    other.exec("COMMIT");
    await bench.clock.advance(100);
    await Promise.all([first, second]);
    expect(keys()).toEqual(["a", "b"]);
    other.close();
  });

  it("gives up on a lock that is not given back within 10 s, and works again after it", async () => {
    const other = openConnection({ path: bench.path });
    other.exec("BEGIN IMMEDIATE");
    const waiting = add("a");
    const refused = expect(waiting).rejects.toMatchObject({
      code: "state_unusable",
      data: { resultCode: 5 },
    });
    await bench.clock.advance(9_000);
    expect(keys()).toEqual([]);
    await bench.clock.advance(1_200);
    await refused;
    other.exec("COMMIT");
    await add("b");
    expect(keys()).toEqual(["b"]);
    other.close();
  });

  it("refuses what comes after closing, as interrupted", async () => {
    await bench.committer.close();
    await expect(add("late")).rejects.toMatchObject({ code: "interrupted" });
  });
});
