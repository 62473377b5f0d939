import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migrate, SCHEMA_VERSION } from "../../../src/store/migrate.ts";
import { initial } from "../../../src/store/migrations/0001-initial.ts";
import { openConnection, refuseOldSqlite } from "../../../src/store/sqlite-connection.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

const NOW = 1_700_000_000_000;
const second = { version: 2, name: "second", sql: "ALTER TABLE documents ADD COLUMN extra TEXT" };

function rows(dir: string, sql: string): unknown[] {
  const database = new DatabaseSync(join(dir, "state.db"));
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

describe("migrations", () => {
  it("bring a fresh file to the newest schema and leave a current one alone", async () => {
    const dir = tempDir();
    for (let round = 0; round < 2; round += 1) await (await openTestStore({ dir })).close();
    expect(rows(dir, "SELECT version, name FROM schema_version")).toEqual([
      { version: SCHEMA_VERSION, name: "initial" },
    ]);
  });

  it("go forward only: what is there stays, what is new is added", () => {
    const connection = openConnection({ path: ":memory:" });
    migrate(connection, NOW, [initial]);
    connection.run(
      "INSERT INTO documents (collection, key, value, version, updated_at) VALUES ('pins', 'a', '1', 1, 1)",
    );
    migrate(connection, NOW + 1, [initial, second]);
    migrate(connection, NOW + 2, [initial, second]);
    expect(connection.get("SELECT key, extra FROM documents")).toMatchObject({ key: "a", extra: null });
    expect(
      connection.all("SELECT version, applied_at FROM schema_version").map((row) => ({ ...row })),
    ).toEqual([
      { version: 1, applied_at: NOW },
      { version: 2, applied_at: NOW + 1 },
    ]);
    connection.close();
  });

  it("take back the whole step where one fails", () => {
    const connection = openConnection({ path: ":memory:" });
    const broken = { version: 2, name: "broken", sql: "CREATE TABLE half (a); SELECT * FROM nowhere" };
    expect(() => migrate(connection, NOW, [initial, broken])).toThrow();
    expect(connection.isInTransaction).toBe(false);
    expect(connection.all("SELECT name FROM sqlite_schema")).toEqual([]);
    connection.close();
  });

  it("refuse a newer schema and leave it untouched", async () => {
    const dir = tempDir();
    await (await openTestStore({ dir })).close();
    rows(dir, "INSERT INTO schema_version VALUES (99, 'from the future', 1)");
    await expect(openTestStore({ dir })).rejects.toMatchObject({
      code: "state_newer",
      data: { found: 99, known: SCHEMA_VERSION },
    });
    expect(rows(dir, "SELECT count(*) AS count FROM instances")).toEqual([{ count: 0 }]);
  });

  it("refuse a database of something else, and a file that is none", async () => {
    const dir = tempDir();
    rows(dir, "CREATE TABLE theirs (a)");
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: "state_unusable" });
    expect(rows(dir, "SELECT name FROM sqlite_schema")).toEqual([{ name: "theirs" }]);
    const other = tempDir();
    writeFileSync(
      join(other, "state.db"),
      "this is no database at all, but long enough to look at ".repeat(40),
    );
    await expect(openTestStore({ dir: other })).rejects.toMatchObject({
      code: "state_unusable",
      data: { resultCode: 26 },
    });
  });
});

describe("SQLite's version", () => {
  it.each(["3.51.3", "3.51.10", "3.52.0", "4.0.0"])("%s is taken", (version) => {
    expect(() => refuseOldSqlite(version)).not.toThrow();
  });

  it.each(["3.51.2", "3.50.4", "3.9.0", "2.99.99", "nonsense"])("%s is refused", (version) => {
    expect(() => refuseOldSqlite(version)).toThrow(expect.objectContaining({ code: "state_unusable" }));
  });
});
