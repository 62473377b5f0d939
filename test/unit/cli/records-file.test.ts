import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeRecords } from "../../../src/cli/records-file.ts";
import { PortcullisError } from "../../../src/errors.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "portcullis-records-"));
  file = join(dir, "records.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true }));

const never = new AbortController().signal;

async function* three(onSecond: () => void = () => undefined): AsyncGenerator<string> {
  yield "1\n";
  onSecond();
  yield "2\n";
  yield "3\n";
}

describe("a file of records", () => {
  it("is new, and its owner's alone", async () => {
    expect(await writeRecords(three(), file, never)).toEqual({ file, lines: 3 });
    expect(readFileSync(file, "utf8")).toBe("1\n2\n3\n");
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(writeRecords(three(), file, never)).rejects.toMatchObject({ code: "usage" });
    expect(readFileSync(file, "utf8")).toBe("1\n2\n3\n");
  });

  it("is taken away again where the writing was interrupted", async () => {
    const controller = new AbortController();
    const reason = new PortcullisError("cancelled", "interrupted");
    const writing = writeRecords(
      three(() => controller.abort(reason)),
      file,
      controller.signal,
    );
    await expect(writing).rejects.toBe(reason);
    expect(existsSync(file)).toBe(false);
  });

  it("is taken away again where the records could not be read to their end", async () => {
    const broken = new PortcullisError("state_unusable", "it is damaged");
    const writing = writeRecords(
      three(() => {
        throw broken;
      }),
      file,
      never,
    );
    await expect(writing).rejects.toBe(broken);
    expect(existsSync(file)).toBe(false);
  });
});
