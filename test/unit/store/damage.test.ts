import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { refuseDamaged } from "../../../src/store/sqlite-damage.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

async function stateWith(sql: string): Promise<string> {
  const dir = tempDir();
  const store = await openTestStore({ dir });
  await store.documents.put("pins", "a", 1);
  await store.records.append({ callId: "c", kind: "opened", at: 1, body: {} }, "durable");
  await store.close();
  const database = new DatabaseSync(join(dir, "state.db"));
  database.exec(sql);
  database.close();
  return dir;
}

const damaged = (dir: string): unknown =>
  expect.objectContaining({
    code: "state_unusable",
    message: expect.stringMatching(new RegExp(`^state \`${dir}/state\\.db\` .* damaged .*put a copy back`)),
  });

describe("a damaged state", () => {
  it("names its file and what to do, where a document or a record is no JSON", async () => {
    const dir = await stateWith(
      "DROP TRIGGER records_are_never_updated; UPDATE records SET body = '{no'; UPDATE documents SET value = '{no'",
    );
    const store = await openTestStore({ dir });
    await expect(store.documents.get("pins", "a")).rejects.toEqual(damaged(dir));
    await expect(store.documents.list("pins")).rejects.toEqual(damaged(dir));
    await expect(store.records.query({})).rejects.toEqual(damaged(dir));
  });

  it("names its file where it has lost its version", async () => {
    const dir = await stateWith("DELETE FROM schema_version");
    await expect(openTestStore({ dir })).rejects.toEqual(damaged(dir));
  });

  it("is found by a look at the whole file, though nobody needs the page", async () => {
    const dir = await stateWith("");
    expect(refuseDamaged(dir)).toBeUndefined();
    const database = new DatabaseSync(join(dir, "state.db"));
    const found = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'records_by_server'")
      .get();
    database.close();
    const at = 4096 * (Number(found?.["rootpage"]) - 1);
    const bytes = readFileSync(join(dir, "state.db"));
    writeFileSync(join(dir, "state.db"), bytes.fill(0xff, at, at + 4096));
    await (await openTestStore({ dir })).close();
    expect(() => refuseDamaged(dir)).toThrow(damaged(dir) as Error);
  });
});

describe("a file of something else", () => {
  it("is refused as it is: not even its journal mode is changed", async () => {
    const dir = tempDir();
    const database = new DatabaseSync(join(dir, "state.db"));
    database.exec("CREATE TABLE theirs (a)");
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: "state_unusable" });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
    database.close();
    expect(readdirSync(dir)).toEqual(["state.db"]);
  });
});

describe("a state that is taken away while it is used", () => {
  const append = { callId: "c", kind: "opened", at: 1, body: {} } as const;

  it.each([
    ["removed", (dir: string) => rmSync(dir, { recursive: true })],
    ["moved", (dir: string) => renameSync(dir, `${dir}-elsewhere`)],
    [
      "replaced",
      (dir: string) => {
        rmSync(dir, { recursive: true });
        mkdirSync(dir);
        writeFileSync(join(dir, "state.db"), "");
      },
    ],
  ])("takes nothing any more: %s", async (_how, take) => {
    const dir = join(tempDir(), "state");
    const store = await openTestStore({ dir });
    await store.records.append(append, "durable");
    take(dir);
    await expect(store.records.append(append, "durable")).rejects.toMatchObject({
      code: "audit_unavailable",
      message: expect.stringContaining(`\`${dir}/state.db\` was moved, removed or replaced`),
    });
    await expect(store.documents.put("pins", "a", 1)).rejects.toMatchObject({ code: "state_unusable" });
  });

  it("goes on once it is back", async () => {
    const dir = join(tempDir(), "state");
    const store = await openTestStore({ dir });
    renameSync(dir, `${dir}-elsewhere`);
    await expect(store.records.append(append, "durable")).rejects.toMatchObject({
      code: "audit_unavailable",
    });
    renameSync(`${dir}-elsewhere`, dir);
    await store.records.append(append, "durable");
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: 1 }]);
  });
});
