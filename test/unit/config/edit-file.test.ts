import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setGrade } from "../../../src/config/edit.ts";
import { editConfigFile } from "../../../src/config/edit-file.ts";
import { digestBytes } from "../../../src/config/load.ts";

const text = '{\n  // mine\n  "mcpServers": { "a": { "command": "x" } }\n}\n';
let folder = "";
let file = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "portcullis-edit-")));
  file = join(folder, "portcullis.json");
  await writeFile(file, text);
});
afterEach(() => rm(folder, { recursive: true }));

const grade = setGrade("a", "t", "L0");

describe("editConfigFile", () => {
  it("writes the edit, tells both digests, keeps the mode, and leaves nothing beside the file", async () => {
    await chmod(file, 0o640);
    const edit = await editConfigFile(file, grade, digestBytes(Buffer.from(text)));
    const written = await readFile(file);
    expect(written.toString()).toContain("// mine");
    expect(written.toString()).toContain('"t": "L0"');
    expect(edit).toEqual({ file, before: digestBytes(Buffer.from(text)), after: digestBytes(written) });
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(["portcullis.json"]);
  });

  it("keeps a wide mode under a narrow umask", async () => {
    await chmod(file, 0o666);
    await editConfigFile(file, grade, null);
    expect((await stat(file)).mode & 0o777).toBe(0o666);
  });

  it("refuses where the file is not what the caller saw", async () => {
    await expect(editConfigFile(file, grade, "0".repeat(64))).rejects.toMatchObject({
      code: "config_changed",
    });
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it("refuses where somebody wrote meanwhile, and keeps what they wrote", async () => {
    const { writeFileSync } = await import("node:fs");
    const racing = (before: string): string => {
      writeFileSync(file, "{ /* theirs */ }");
      return grade(before);
    };
    await expect(editConfigFile(file, racing, null)).rejects.toMatchObject({ code: "config_changed" });
    expect(await readFile(file, "utf8")).toBe("{ /* theirs */ }");
    expect(await readdir(folder)).toEqual(["portcullis.json"]);
  });

  it("lets one of two edits at the same time through, or both, and loses none that it acknowledged", async () => {
    const edits = await Promise.allSettled(
      Array.from({ length: 8 }, (_unused, index) =>
        editConfigFile(file, setGrade("a", `t${index}`, "L0"), null),
      ),
    );
    const done = edits.flatMap((edit, index) => (edit.status === "fulfilled" ? [index] : []));
    const written = await readFile(file, "utf8");
    expect(done.length).toBeGreaterThan(0);
    for (const index of done) expect(written).toContain(`"t${index}"`);
    for (const edit of edits) {
      if (edit.status === "rejected") expect(edit.reason).toMatchObject({ code: "config_changed" });
    }
    expect(await readdir(folder)).toEqual(["portcullis.json"]);
  });

  it("respects the lock of a living process and takes over that of a dead one", async () => {
    await writeFile(`${file}.lock`, String(process.pid));
    await expect(editConfigFile(file, grade, null)).rejects.toMatchObject({ code: "config_changed" });
    await writeFile(`${file}.lock`, "999999999");
    await editConfigFile(file, grade, null);
    expect(await readdir(folder)).toEqual(["portcullis.json"]);
  });

  it("follows a link and leaves it a link", async () => {
    const link = join(folder, "link.json");
    await symlink(file, link);
    expect((await editConfigFile(link, grade, null)).file).toBe(file);
    expect(await realpath(link)).toBe(file);
    expect(await readFile(file, "utf8")).toContain('"t": "L0"');
  });

  it("refuses to write what would be invalid, and to edit what is broken", async () => {
    await expect(editConfigFile(file, () => '{ "lgo": 1 }', null)).rejects.toMatchObject({
      code: "config_invalid",
    });
    await expect(editConfigFile(file, () => "{", null)).rejects.toMatchObject({ code: "config_invalid" });
    expect(await readFile(file, "utf8")).toBe(text);
    await writeFile(file, "{ broken");
    await expect(editConfigFile(file, grade, null)).rejects.toMatchObject({ code: "config_invalid" });
    expect(await readdir(folder)).toEqual(["portcullis.json"]);
  });

  it("says so where there is no file", async () => {
    await rm(file);
    await expect(editConfigFile(file, grade, null)).rejects.toMatchObject({ code: "config_not_found" });
  });

  it("does nothing where nothing changes", async () => {
    const before = (await stat(file)).mtimeMs;
    const edit = await editConfigFile(file, (same) => same, null);
    expect(edit.before).toBe(edit.after);
    expect((await stat(file)).mtimeMs).toBe(before);
  });
});
