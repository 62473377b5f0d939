import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock as clock } from "../../../src/base/clock.ts";
import { readKeychain } from "../../../src/transport/keychain.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "portcullis-keychain-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A stand-in for `secret-tool` that does as the real one: the value, or nothing and 1, or a complaint and 1. */
function install(): void {
  const file = join(dir, "secret-tool");
  const lines = [
    "#!/bin/sh",
    '[ "$*" = "lookup service portcullis name github" ] && printf "s3cret value" && exit 0',
    '[ "$5" = "locked" ] && echo "Cannot autolaunch D-Bus" >&2',
    "exit 1",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  chmodSync(file, 0o755);
}

const read = (name: string, platform: NodeJS.Platform = "linux"): Promise<string | undefined> =>
  readKeychain(name, { platform, env: { PATH: `${dir}:/usr/bin:/bin` }, clock });

describe("readKeychain", { timeout: 30_000 }, () => {
  it("gives the entry of the service `portcullis`; what is not there is undefined", async () => {
    install();
    expect(await read("github")).toBe("s3cret value");
    expect(await read("other")).toBeUndefined();
  });

  it("takes a keychain that cannot be asked for an error, not for an entry that is missing", async () => {
    install();
    await expect(read("locked")).rejects.toMatchObject({ code: "secret_unresolved" });
  });

  it("names the tool that is missing, and the platforms that have none", async () => {
    const absent = readKeychain("x", { platform: "linux", env: { PATH: dir }, clock });
    await expect(absent).rejects.toThrow("libsecret-tools");
    await expect(read("x", "win32")).rejects.toThrow("no keychain on win32");
  });
});
