import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readCertificates } from "../../../src/config/certificates.ts";

const dir = mkdtempSync(join(tmpdir(), "portcullis-ca-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const tls = join(import.meta.dirname, "../../servers/tls");
const pem = readFileSync(
  join(tls, readdirSync(tls).find((name) => /ca.*\.(?:pem|crt)$/.test(name)) ?? ""),
  "utf8",
);

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

describe("readCertificates", () => {
  it("gives every certificate of every file, and nothing where none is named", () => {
    expect(readCertificates([])).toEqual({});
    const two = file("two.pem", `# ours\n${pem}\n${pem}`);
    expect(readCertificates([two, file("one.pem", pem)]).tls?.ca).toHaveLength(3);
  });

  it.each([
    ["absent.pem", null, "cannot be read (ENOENT)"],
    [".", null, "is a folder and no file"],
    ["key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "holds no certificate"],
    [
      "broken.pem",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
      "holds a certificate that is broken",
    ],
  ])("refuses %s by name", (name, text, why) => {
    const path = text === null ? join(dir, name) : file(name, text);
    expect(() => readCertificates([path])).toThrow(`\`${path}\` ${why}`);
  });
});
