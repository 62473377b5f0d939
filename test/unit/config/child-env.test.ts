import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { childEnvironment } from "../../../src/config/child-env.ts";
import { describeField, fieldServer } from "../../support/field.ts";

it("lets the entry win, and adds what it names", () => {
  const environment = childEnvironment({
    host: { PATH: "/bin", HOME: "/home/me", SECRET: "x" },
    entry: { HOME: "/sandbox", TOKEN: "t" },
    platform: "linux",
  });
  expect(environment).toEqual({ PATH: "/bin", HOME: "/sandbox", TOKEN: "t" });
});

it("leaves exported shell functions and unset variables out", () => {
  const host = { PATH: "/bin", TERM: "() { :;}; evil", LANG: undefined };
  expect(childEnvironment({ host, entry: {}, platform: "linux" })).toEqual({ PATH: "/bin" });
});

it("takes names on Windows in any case, once", () => {
  const environment = childEnvironment({
    host: { Path: "C:\\Windows", SystemRoot: "C:\\Windows", fake_api_key: "x" },
    entry: { PATH: "C:\\tools" },
    platform: "win32",
  });
  expect(environment).toEqual({ PATH: "C:\\tools", SystemRoot: "C:\\Windows" });
});

it("appends the folder of an absolute command to PATH", () => {
  const path = (host: object, command: string): string | undefined =>
    childEnvironment({ host: host as Record<string, string>, entry: {}, platform: "linux", command })["PATH"];
  expect(path({ PATH: "/usr/bin:/bin" }, "/opt/node/bin/npx")).toBe("/usr/bin:/bin:/opt/node/bin");
  expect(path({ PATH: "/usr/bin:/bin" }, "/bin/sh")).toBe("/usr/bin:/bin");
  expect(path({ PATH: "/usr/bin" }, "npx")).toBe("/usr/bin");
  expect(path({}, "/opt/x")).toBe("/opt");
  const windows = childEnvironment({
    host: { Path: "C:\\a" },
    entry: {},
    platform: "win32",
    command: "C:\\b\\x.exe",
  });
  expect(windows).toEqual({ Path: "C:\\a;C:\\b" });
});

describeField("fc16-env-dump", () => {
  it.each([{}, { FAKE_NAMED: "yes" }])("sees its own variables only: %j", (entry) => {
    const host = { ...process.env, FAKE_API_KEY: "s3cr3t" };
    const env = childEnvironment({ host, entry, platform: process.platform, command: process.execPath });
    const request = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "dump_env", arguments: {} },
    };
    const child = spawnSync(process.execPath, [fieldServer("fc16-env-dump")], {
      env: { ...env, ERA: "legacy" },
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } })}\n${JSON.stringify(request)}\n`,
      encoding: "utf8",
      timeout: 10_000,
    });
    const answers = child.stdout
      .trim()
      .split("\n")
      .map(
        (line) => JSON.parse(line) as { id: number; result?: { structuredContent?: { names?: string[] } } },
      );
    const names = answers.find((answer) => answer.id === 1)?.result?.structuredContent?.names ?? [];
    expect(names).toContain("PATH");
    expect(names).not.toContain("FAKE_API_KEY");
    expect(names.filter((name) => name.startsWith("FAKE_"))).toEqual(Object.keys(entry));
  });
});
