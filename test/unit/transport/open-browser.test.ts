import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { openBrowser, openerFor } from "../../../src/transport/open-browser.ts";

const forever = new AbortController().signal;

describe("openerFor [SEC-07, SEC-08, SEC-09, SEC-10, SEC-11]", () => {
  const url = new URL("https://as.example/authorize?x=$(id)&y=%60id%60&z='a'");

  it.each([
    ["linux", "xdg-open", [url.href]],
    ["darwin", "/usr/bin/open", [url.href]],
    ["win32", "C:\\Win\\System32\\rundll32.exe", ["url.dll,FileProtocolHandler", url.href]],
  ] as const)("names a program and gives it the address as one argument on %s", (platform, command, args) => {
    expect(openerFor(url, { platform, systemRoot: "C:\\Win" })).toEqual({ command, args });
  });

  it.each(["http://localhost:1/x", "http://127.0.0.1/x"])("takes %s", (text) => {
    expect(openerFor(new URL(text), { platform: "linux" }).args).toEqual([text]);
  });

  it.each([
    "http://as.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "ms-settings:privacy",
    "vscode://x",
    "https://user:pw@as.example/",
  ])("opens nothing for %s", (text) => {
    expect(() => openerFor(new URL(text), { platform: "linux" })).toThrow(
      expect.objectContaining({ code: "egress_denied" }),
    );
  });
});

describe.skipIf(process.platform === "win32")("openBrowser", () => {
  let dir: string;
  const path = process.env["PATH"];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "portcullis-opener-"));
  });
  afterEach(() => {
    process.env["PATH"] = path;
    rmSync(dir, { recursive: true, force: true });
  });

  function opener(body: string): void {
    const file = join(dir, "xdg-open");
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    process.env["PATH"] = `${dir}:${path ?? ""}`;
  }

  it("gives the address to the program whole, and no shell reads it", async () => {
    const url = new URL(`https://as.example/?x=$(touch%20${dir}/pwned)&y=;touch+${dir}/pwned2`);
    opener(`printf '%s\\n' "$#" "$1" > "${dir}/got"`);
    expect(await openBrowser(url, { platform: "linux" }, systemClock, forever)).toBe(true);
    expect(readFileSync(join(dir, "got"), "utf8")).toBe(`1\n${url.href}\n`);
    expect([existsSync(join(dir, "pwned")), existsSync(join(dir, "pwned2"))]).toEqual([false, false]);
  });

  it("says where no browser was opened", async () => {
    opener("exit 3");
    expect(
      await openBrowser(new URL("https://as.example/"), { platform: "linux" }, systemClock, forever),
    ).toBe(false);
    process.env["PATH"] = dir;
    rmSync(join(dir, "xdg-open"));
    expect(
      await openBrowser(new URL("https://as.example/"), { platform: "linux" }, systemClock, forever),
    ).toBe(false);
  });
});
