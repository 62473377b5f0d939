import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openVault } from "../../../src/auth/vault.ts";
import { systemRandom } from "../../../src/base/random.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "vault-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("vault", () => {
  it("gives back what was sealed, to whoever has the same state directory", () => {
    const sealed = openVault({ dir, random: systemRandom }).seal("s3cret ☃", "token github");
    expect(sealed).not.toContain("s3cret");
    expect(openVault({ dir, random: systemRandom }).open(sealed, "token github")).toBe("s3cret ☃");
    expect(readdirSync(dir)).toEqual(["vault.key"]);
    expect(statSync(join(dir, "vault.key")).mode & 0o777).toBe(0o600);
  });

  it("refuses a value of another place, a changed one, another key, and junk", () => {
    const vault = openVault({ dir, random: systemRandom });
    const sealed = vault.seal("x", "approval 1");
    const other = openVault({ dir, random: systemRandom, key: Buffer.alloc(32, 7) });
    const refused = expect.objectContaining({ code: "state_unusable" });
    expect(() => vault.open(sealed, "approval 2")).toThrowError(refused);
    expect(() => other.open(sealed, "approval 1")).toThrowError(refused);
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 4 }), fc.string(), (at, junk) => {
        const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
        expect(() => vault.open(changed, "approval 1")).toThrowError(refused);
        expect(() => vault.open(junk, "approval 1")).toThrowError(refused);
      }),
    );
  });

  it("refuses a key that others may read", () => {
    openVault({ dir, random: systemRandom });
    chmodSync(join(dir, "vault.key"), 0o644);
    expect(() => openVault({ dir, random: systemRandom })).toThrowError(/chmod 600/);
  });

  it.each([
    ["is a folder", (file: string) => mkdirSync(file, { mode: 0o700 }), /is not a file/],
    [
      "is too short",
      (file: string) => writeFileSync(file, "abc", { mode: 0o600 }),
      /has 3 bytes, not 32: put/,
    ],
    ["is a link to itself", (file: string) => symlinkSync("vault.key", file), /cannot be read: its links go/],
    ["leads nowhere", (file: string) => symlinkSync("/none/at/all", file), /could not be made/],
  ])("names a key file that %s, and leaves no draft of another", (_what, make, why) => {
    const file = join(dir, "vault.key");
    make(file);
    expect(() => openVault({ dir, random: systemRandom })).toThrowError(
      expect.objectContaining({ code: "state_unusable", message: expect.stringMatching(why) }),
    );
    expect(() => openVault({ dir, random: systemRandom })).toThrowError(file);
    expect(readdirSync(dir)).toEqual(["vault.key"]);
  });
});
