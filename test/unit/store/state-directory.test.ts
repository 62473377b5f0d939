import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync, chownSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  lookForStateDirectory,
  prepareStateDirectory,
  prepareStateFile,
} from "../../../src/store/state-directory.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("state directory", () => {
  it("is made with 0700 and every file in it has 0600, whatever the umask", async () => {
    const before = process.umask(0o000);
    try {
      const dir = join(tempDir(), "deep", "state");
      const store = await openTestStore({ dir });
      await store.documents.put("pins", "a", 1);
      expect(modeOf(dir)).toBe("700");
      const files = readdirSync(dir);
      expect(files.sort()).toEqual(["state.db", "state.db-shm", "state.db-wal"]);
      for (const file of files) expect([file, modeOf(join(dir, file))]).toEqual([file, "600"]);
    } finally {
      process.umask(before);
    }
  });

  it("is closed to readers where it was open, and its file too", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, "state.db"), "", { mode: 0o644 });
    chmodSync(dir, 0o755);
    await openTestStore({ dir });
    expect(modeOf(dir)).toBe("700");
    expect(modeOf(join(dir, "state.db"))).toBe("600");
  });

  it.each([0o777, 0o770, 0o702])("is refused where others may write it (%o)", (mode) => {
    const dir = tempDir();
    chmodSync(dir, mode);
    expect(() => prepareStateDirectory(dir)).toThrow(expect.objectContaining({ code: "state_unusable" }));
  });

  // Only root can give a directory away.
  it.runIf(process.getuid?.() === 0)(
    "is refused where it belongs to somebody else, as is a file in it",
    () => {
      const dir = tempDir();
      chownSync(dir, 12_345, 12_345);
      expect(() => prepareStateDirectory(dir)).toThrow(
        expect.objectContaining({ code: "state_unusable", data: { path: dir, owner: 12_345 } }),
      );
      chownSync(dir, 0, 0);
      writeFileSync(join(dir, "state.db"), "");
      chownSync(join(dir, "state.db"), 12_345, 12_345);
      expect(() => prepareStateFile(dir, "state.db")).toThrow(
        expect.objectContaining({ code: "state_unusable" }),
      );
    },
  );

  it.runIf(process.platform === "linux")("is refused at once where no folder can be made", () => {
    expect(() => prepareStateDirectory("/proc/none/state")).toThrow(
      expect.objectContaining({ code: "state_unusable" }),
    );
  });

  it("is refused where it is a file, or its state file a link or a directory", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, "file"), "");
    await expect(openTestStore({ dir: join(dir, "file") })).rejects.toMatchObject({ code: "state_unusable" });
    symlinkSync(join(dir, "file"), join(dir, "state.db"));
    await expect(openTestStore({ dir })).rejects.toMatchObject({ code: "state_unusable" });
    const other = tempDir();
    mkdirSync(join(other, "state.db"));
    await expect(openTestStore({ dir: other })).rejects.toMatchObject({ code: "state_unusable" });
  });

  it.each([
    [
      "a file on the way",
      "file/state",
      /a file stands where one of its folders should be|is not a directory/,
    ],
    ["a link that leads nowhere", "nowhere", /a link to it leads nowhere|something else is in its place/],
    ["a link to itself", "circle", /links go round in circles/],
    ["a name that is too long", "x".repeat(300), /the name is too long/],
  ])("says why it cannot be used, before and when it is made: %s", (_what, name, why) => {
    const dir = tempDir();
    writeFileSync(join(dir, "file"), "");
    symlinkSync("/none/at/all", join(dir, "nowhere"));
    symlinkSync("circle", join(dir, "circle"));
    const path = join(dir, name);
    for (const look of [lookForStateDirectory, prepareStateDirectory])
      expect(() => look(path)).toThrow(
        expect.objectContaining({ code: "state_unusable", message: expect.stringMatching(why) }),
      );
  });

  it("is looked for without being made", () => {
    const dir = tempDir();
    expect(lookForStateDirectory(dir)).toBe(true);
    expect(lookForStateDirectory(join(dir, "a", "b"))).toBe(false);
    expect(readdirSync(dir)).toEqual([]);
  });

  // Root may write what nobody may write.
  it.skipIf(process.getuid?.() === 0)("leaves no log files behind where its file is read-only", async () => {
    const dir = tempDir();
    writeFileSync(join(dir, "state.db"), "", { mode: 0o400 });
    await expect(openTestStore({ dir })).rejects.toMatchObject({
      code: "state_unusable",
      message: expect.stringContaining("permission denied"),
    });
    expect(readdirSync(dir)).toEqual(["state.db"]);
  });
});
