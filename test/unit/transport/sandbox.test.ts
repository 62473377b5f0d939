import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock as clock } from "../../../src/base/clock.ts";
import { listProgramFiles } from "../../../src/transport/program-files.ts";
import { probeSandbox } from "../../../src/transport/sandbox-probe.ts";
import { covers, sandboxed, type SandboxRules } from "../../../src/transport/sandbox.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "portcullis-sandbox-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text = "", mode = 0o644): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const rules: SandboxRules = { read: [], write: [], hasNetwork: false, hidden: [] };

function wrap(
  more: Partial<SandboxRules>,
  command = "/bin/sh",
  args: readonly string[] = [],
): readonly string[] {
  const env = { PATH: "/usr/bin", HOME: "/home/somebody", TOKEN: "hunter2" };
  return sandboxed({ command, args, env, cwd: dir }, { ...rules, ...more }, "/usr/bin/bwrap", "x").args;
}

/** Position of a step in the command line; -1 where it is not there. */
function at(args: readonly string[], ...step: readonly string[]): number {
  return args.findIndex((_arg, index) => step.every((word, offset) => args[index + offset] === word));
}

describe("the command line of a sandbox", () => {
  it("has no network, no other process and no capability unless it says so, and no secret", () => {
    const args = wrap({});
    expect(args).toContain("--unshare-all");
    expect(args).toContain("--die-with-parent");
    expect(at(args, "--cap-drop", "ALL")).toBeGreaterThan(0);
    expect(args).not.toContain("--share-net");
    expect(wrap({ hasNetwork: true })).toContain("--share-net");
    expect(args.join(" ")).not.toContain("hunter2");
    expect(args.slice(args.indexOf("--"))).toEqual(["--", "/bin/sh"]);
  });

  it("mounts inner places after outer ones, and hides after it has shown", () => {
    const inner = dirname(file("outer/inner/a"));
    const hidden = file("outer/portcullis.json");
    const args = wrap({ read: [join(dir, "outer")], write: [inner], hidden: [hidden] });
    const outerAt = at(args, "--ro-bind", join(dir, "outer"), join(dir, "outer"));
    expect(outerAt).toBeGreaterThan(0);
    expect(at(args, "--bind", inner, inner)).toBeGreaterThan(outerAt);
    expect(at(args, "--ro-bind", "/dev/null", hidden)).toBeGreaterThan(outerAt);
  });

  it("follows links before it judges: a link into the state is the state", () => {
    const state = dirname(file("state/vault.key"));
    symlinkSync(state, join(dir, "innocent"));
    expect(() => wrap({ read: [join(dir, "innocent")], hidden: [state] })).toThrow("belongs to Portcullis");
    symlinkSync(dir, join(dir, "around"));
    expect(() => wrap({ write: [join(dir, "around")], hidden: [state] })).toThrow("decides what is allowed");
  });

  it("protects a state that is not there yet", () => {
    const state = join(dir, "later", "state");
    expect(() => wrap({ write: [dir], hidden: [state] })).toThrow("decides what is allowed");
    expect(wrap({ read: [dir], hidden: [state] })).not.toContain(state);
  });

  it("shows a locked program inside the hidden state, and nothing beside it", () => {
    const program = file("state/packages/x/node_modules/.bin/x", "#!/bin/sh\n", 0o755);
    const packages = join(dir, "state/packages/x/node_modules");
    const args = wrap({ read: [dir], hidden: [join(dir, "state")] }, program);
    const maskAt = at(args, "--tmpfs", join(dir, "state"));
    expect(maskAt).toBeGreaterThan(0);
    expect(at(args, "--ro-bind", packages, packages)).toBeGreaterThan(maskAt);
  });

  it("a program that is not there is said before anything runs", () => {
    expect(() => wrap({}, "no-such-program")).toThrow("was not found in PATH `/usr/bin`");
  });

  it.each([
    ["/a", "/a", true],
    ["/a", "/a/b", true],
    ["/a", "/ab", false],
    ["/", "/ab", true],
    ["/a/b", "/a", false],
  ])("%s covers %s: %s", (outer, place, isCovered) => {
    expect(covers(outer, place)).toBe(isCovered);
  });
});

describe("what a command needs", () => {
  const path = (): string => `${join(dir, "bin")}:/usr/bin:/bin`;
  const needs = (command: string, ...args: string[]): readonly string[] =>
    listProgramFiles({ command, args, path: path(), cwd: dir }).needed.map((place) =>
      place.replace(dir, "."),
    );

  it("a script: itself, its interpreter, the packages above it, what says which kind it is", () => {
    file("bin/runtime", "\x7fELF", 0o755);
    file("lib/a");
    file("node_modules/zod/index.js");
    file("package.json", "{}");
    file("server/portcullis.json");
    file("server/main.js", "#!/usr/bin/env runtime\n", 0o755);
    const found = needs("./server/main.js");
    expect(found).toEqual(
      expect.arrayContaining([
        "./server/main.js",
        "./bin/runtime",
        "./lib",
        "./node_modules",
        "./package.json",
      ]),
    );
    expect(found).not.toContain("./server");
    expect(found).not.toContain(".");
  });

  it("the script that an interpreter is given, and none of its other arguments", () => {
    file("bin/node", "\x7fELF", 0o755);
    file("main.js");
    file("data.txt");
    const found = needs("node", "--enable-source-maps", "./main.js", "./data.txt");
    expect(found).toContain("./main.js");
    expect(found).not.toContain("./data.txt");
  });

  it("a link and what it leads to", () => {
    file("node_modules/x/cli.js", "#!/bin/sh\n", 0o755);
    mkdirSync(join(dir, "bin"));
    symlinkSync("../node_modules/x/cli.js", join(dir, "bin", "x"));
    expect(needs("x")).toEqual(
      expect.arrayContaining(["./bin/x", "./node_modules/x/cli.js", "./node_modules"]),
    );
  });

  it("nothing for what is not there, is a folder or may not be executed", () => {
    file("bin/plain", "text");
    for (const command of ["plain", "absent", "./bin"])
      expect(listProgramFiles({ command, args: [], path: path(), cwd: dir }).program).toBeUndefined();
  });

  it("ends on interpreters that name each other", () => {
    file("bin/a", "#!/usr/bin/env b\n", 0o755);
    file("bin/b", "#!/usr/bin/env a\n", 0o755);
    expect(needs("a").length).toBeLessThan(20);
  });
});

describe("probeSandbox", () => {
  it("says what is missing, and how to mend it", async () => {
    expect(await probeSandbox({ path: dir, platform: "linux", clock })).toMatchObject({
      ok: false,
      reason: "`bwrap` was not found in PATH",
    });
    expect(await probeSandbox({ path: dir, platform: "darwin", clock })).toMatchObject({
      ok: false,
      reason: "there is no sandbox on darwin in this version",
    });
    file("bwrap", "#!/bin/sh\necho 'no namespaces for you' >&2\nexit 1\n", 0o755);
    const refused = await probeSandbox({ path: dir, platform: "linux", clock });
    expect(refused.ok ? "" : refused.reason).toContain("no namespaces for you");
  });
});
