import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileConfig } from "../../../src/config/compile.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { diagnose, type DoctorFacts } from "../../../src/operations/doctor.ts";

const host = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, homeDir: "/home/me", platform: "linux" } as const;

function factsOf(servers: JsonObject = {}, more: Partial<DoctorFacts> = {}): DoctorFacts {
  const config = compileConfig(
    { mcpServers: servers },
    { file: "/portcullis.json", baseDir: "/", homeDir: "/home/me", platform: "linux", stateDir: "/state" },
  );
  return {
    host,
    node: "24.11.0",
    sqlite: "3.51.3",
    config,
    state: { mode: 0o700, isOurs: true },
    vault: "usable",
    isStateUntrusted: false,
    leftovers: [],
    stateProblem: null,
    sharedStore: null,
    gateway: { kind: "none" },
    sandbox: null,
    ...more,
  };
}

describe("diagnose", () => {
  it("finds nothing where nothing is wrong", () => {
    const report = diagnose(factsOf({ x: { command: "sh", args: ["x.sh"] } }));
    expect(report.ok).toBe(true);
    expect(report.lines.every(({ fix }) => fix === null)).toBe(true);
  });

  it.each<[Partial<DoctorFacts>, string, RegExp]>([
    [{ node: "22.18.9" }, "node", /older than 22\.19/],
    [{ node: "20.1.0" }, "node", /older/],
    [{ sqlite: "3.51.2" }, "sqlite", /older than 3\.51\.3/],
    [{ state: { mode: 0o755, isOurs: true } }, "state.mode", /mode 755/],
    [{ state: { mode: 0o700, isOurs: false } }, "state.owner", /somebody else/],
    [{ vault: new PortcullisError("state_unusable", "others may read it") }, "vault", /others may read/],
    [
      { state: null, stateProblem: new PortcullisError("state_unusable", "no folder") },
      "state.open",
      /no folder/,
    ],
    [
      { stateProblem: new PortcullisError("state_newer", "a newer version wrote it") },
      "state.open",
      /newer version/,
    ],
    [
      { sharedStore: new PortcullisError("state_unusable", "nobody listens there") },
      "database",
      /nobody listens/,
    ],
    [{ leftovers: [{ pid: 77, command: "node" }] }, "children", /77 \(node\)/],
    [{ gateway: { kind: "stale", pid: 9 } }, "gateway", /process 9/],
    [{ gateway: { kind: "port-taken", address: "127.0.0.1:7420" } }, "gateway", /another program listens/],
    [{ config: new PortcullisError("config_not_found", "there is none") }, "config", /there is none/],
  ])("%j is the problem %s", (more, id, what) => {
    const report = diagnose(factsOf({}, more));
    expect(report.ok).toBe(false);
    const found = report.lines.filter(({ state }) => state === "problem");
    expect(found.map((line) => line.id)).toEqual([id]);
    expect(found[0]?.text).toMatch(what);
    expect(found[0]?.fix).not.toBeNull();
  });

  it.each<[JsonObject, RegExp]>([
    [{ command: "no-such-program" }, /`no-such-program` was not found/],
    [{ command: "sh", cwd: "/no/such/folder" }, /working directory \/no\/such\/folder is not there/],
    [{ command: "sh", env: { A: "${env:NOT_SET_ANYWHERE}" } }, /`NOT_SET_ANYWHERE`, which is not set/],
    [{ url: "https://a.example/${NOT_SET_ANYWHERE}" }, /`NOT_SET_ANYWHERE`, which is not set/],
    [{ command: "npx", args: ["a"] }, /is blocked/],
    [{ command: "sh", sandbox: {} }, /has no sandbox: none here/],
  ])("%j lacks something", (entry, what) => {
    const sandbox = { ok: false, reason: "none here", fix: "install it" } as const;
    const report = diagnose(factsOf({ x: entry }, { sandbox }));
    expect(
      report.lines
        .filter(({ state }) => state === "problem")
        .map(({ text }) => text)
        .join("\n"),
    ).toMatch(what);
  });

  it("asks nothing of what is disabled, has a default, or is set", () => {
    const servers = {
      off: { command: "no-such-program", disabled: true },
      defaulted: { command: "sh", env: { A: "${NOT_SET_ANYWHERE:-x}", P: "${env:PATH}" } },
    };
    expect(diagnose(factsOf(servers)).ok).toBe(true);
  });

  it("does not look at a state that an untrusted file names", () => {
    const report = diagnose(
      factsOf({}, { isStateUntrusted: true, state: null, leftovers: null, gateway: null }),
    );
    expect(report.lines.find(({ id }) => id === "state")).toMatchObject({ state: "unknown" });
  });
});
