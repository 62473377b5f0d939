import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileConfig } from "../../../src/config/compile.ts";
import { formatPath } from "../../../src/config/problems.ts";
import type { ToolView } from "../../../src/host/views.ts";
import { callRules } from "../../../src/host/check-calls.ts";
import type { CheckFacts, CheckVerdict } from "../../../src/host/check-line.ts";
import { placeRules } from "../../../src/host/check-places.ts";
import { serverRules } from "../../../src/host/check-servers.ts";

const rules = [...serverRules, ...callRules, ...placeRules];

function factsOf(raw: JsonObject, more: Partial<CheckFacts> = {}): CheckFacts {
  const file = "/p/portcullis.json";
  const config = compileConfig(raw, {
    file,
    baseDir: "/p",
    homeDir: "/home/me",
    platform: "linux",
    stateDir: "/state",
  });
  return {
    config,
    servers: [...config.servers.values()].filter(({ disabled }) => !disabled),
    at: (path) => ({ file, line: 1, setting: formatPath(path) }),
    locks: new Map(),
    tools: [],
    listed: new Set(),
    files: { stateDir: { mode: 0o700, isOurs: true }, stateFiles: [], config: { mode: 0o600, isOurs: true } },
    audit: { ok: true, chains: 1, records: 2, broken: [], anchors: 0, anchorProblems: [], lost: 0 },
    sandbox: null,
    isRoot: false,
    ...more,
  };
}

function judge(id: string, raw: JsonObject, more: Partial<CheckFacts> = {}): CheckVerdict {
  const rule = rules.find((one) => one.id === id);
  if (rule === undefined) throw new Error(`no rule ${id}`);
  return rule.evaluate(factsOf(raw, more));
}

const texts = (verdict: CheckVerdict): string => verdict.evidence.map(({ text }) => text).join("\n");
const left = (verdict: CheckVerdict): string => verdict.left.map(({ text }) => text).join("\n");
const one = (entry: JsonObject): JsonObject => ({ mcpServers: { x: entry } });
const local = (more: JsonObject = {}): JsonObject => one({ command: "node", args: ["x.js"], ...more });

const lock = {
  ecosystem: "npm",
  name: "a",
  version: "1.0.0",
  integrity: "sha512-x",
  lockHash: "l",
  treeHash: "0123456789abcdef",
  folder: "packages/x/y",
  program: "a",
  packages: [],
  scriptsNotRun: [],
  lockedAt: 1,
  lockedBy: "local",
} as const;

function tool(more: Partial<ToolView>): ToolView {
  return {
    name: "x__t",
    server: "x",
    tool: "t",
    grade: "L2",
    gradeFrom: "default",
    pin: "accepted",
    quarantine: null,
    title: null,
    description: null,
    inputSchema: {},
    claim: null,
    tokens: 1,
    ...more,
  };
}

describe("lines of the checklist", () => {
  it("have ids of their own, and name tests that are there", () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    const root = join(import.meta.dirname, "../../..");
    for (const { test } of rules)
      if (test !== undefined) expect(existsSync(join(root, test)), test).toBe(true);
  });

  it("and so does the threat model [BASE-23]", () => {
    const root = join(import.meta.dirname, "../../..");
    const page = readFileSync(join(root, "docs/security/threats.md"), "utf8");
    const named = new Set(page.match(/test\/[\w/.-]+\.test\.ts/g));
    expect(named.size).toBeGreaterThan(20);
    expect([...named].filter((test) => !existsSync(join(root, test)))).toEqual([]);
  });

  it.each<[string, JsonObject, Partial<CheckFacts>, CheckVerdict["state"], RegExp]>([
    ["servers.source", {}, {}, "not-applicable", /no server/],
    ["servers.source", local({ source: "own" }), {}, "pass", /own/],
    ["servers.source", local(), {}, "fail", /has none/],
    ["servers.source", local({ disabled: true }), {}, "not-applicable", /no server/],
    ["servers.versions", local(), {}, "not-applicable", /no package/],
    ["servers.versions", one({ command: "npx", args: ["a"] }), {}, "fail", /no version/],
    ["servers.versions", one({ command: "npx", args: ["a@1.0.0"] }), {}, "fail", /dependencies may change/],
    [
      "servers.versions",
      one({ command: "npx", args: ["a@1.0.0"] }),
      { locks: new Map([["x", { record: lock, problem: null }]]) },
      "pass",
      /a 1\.0\.0 is locked/,
    ],
    [
      "servers.versions",
      one({ command: "npx", args: ["a@1.0.0"] }),
      { locks: new Map([["x", { record: lock, problem: "it has changed" }]]) },
      "fail",
      /it has changed/,
    ],
    [
      "servers.versions",
      one({ command: "docker", args: ["run", "a:1.2.3"] }),
      {},
      "fail",
      /tag can be moved/,
    ],
    [
      "servers.versions",
      one({ command: "docker", args: ["run", `a@sha256:${"0".repeat(64)}`] }),
      {},
      "pass",
      /digest is the lock/,
    ],
    ["servers.versions", one({ command: "uvx", args: ["a@1.0.0"] }), {}, "fail", /may change/],
    ["servers.definitions", local(), {}, "not-applicable", /not listed|listed yet/],
    ["servers.definitions", local(), { listed: new Set(["x"]), tools: [tool({})] }, "pass", /1 definitions/],
    [
      "servers.definitions",
      local(),
      { listed: new Set(["x"]), tools: [tool({ pin: "changed" })] },
      "fail",
      /has changed and is held/,
    ],
    [
      "privilege.sandbox",
      local({ sandbox: {} }),
      { sandbox: { ok: true, bubblewrap: "/b" } },
      "pass",
      /no network/,
    ],
    [
      "privilege.sandbox",
      local({ sandbox: {} }),
      { sandbox: { ok: false, reason: "no bwrap", fix: "install" } },
      "fail",
      /no bwrap/,
    ],
    ["output.scan", local({ scan: "note" }), {}, "fail", /note/],
    ["output.scan", local(), {}, "pass", /block/],
    ["approvals.channels", { gateway: { requireToken: false } }, {}, "fail", /needs no token/],
    ["approvals.channels", {}, {}, "pass", /127\.0\.0\.1:7420/],
    ["approvals.undo", local(), {}, "not-applicable", /no tool is L1/],
    ["approvals.undo", local({ tools: { w: "L1" } }), {}, "fail", /says not how/],
    [
      "approvals.undo",
      local({ tools: { w: { grade: "L1", undo: { tool: "u", args: {} } } } }),
      {},
      "pass",
      /is undone by `u`/,
    ],
    [
      "approvals.undo",
      local({ default: "L1", source: "own" }),
      { tools: [tool({ grade: "L1" })] },
      "fail",
      /L1 by default/,
    ],
    [
      "state.place",
      {},
      { files: { stateDir: { mode: 0o755, isOurs: true }, stateFiles: [], config: null } },
      "fail",
      /0755/,
    ],
    [
      "state.place",
      {},
      {
        files: {
          stateDir: { mode: 0o700, isOurs: true },
          stateFiles: [{ name: "vault.key", mode: 0o644 }],
          config: null,
        },
      },
      "fail",
      /others may read vault\.key/,
    ],
    [
      "state.place",
      {},
      {
        files: {
          stateDir: { mode: 0o700, isOurs: true },
          stateFiles: [],
          config: { mode: 0o666, isOurs: true },
        },
      },
      "fail",
      /0666/,
    ],
    [
      "secrets.config",
      local({ env: { API_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345" } }),
      {},
      "fail",
      /a GitHub token, not shown/,
    ],
    ["secrets.config", local({ env: { API_TOKEN: "${env:X}" } }), {}, "pass", /no literal/],
    [
      "audit.record",
      {},
      {
        audit: {
          ok: false,
          chains: 1,
          records: 1,
          broken: [{ writer: "w", length: 1, ok: false, brokenAt: 3, reason: "r" }],
          anchors: 0,
          anchorProblems: [],
          lost: 0,
        },
      },
      "fail",
      /chain w is broken at 3/,
    ],
    ["egress.hosts", { egress: { allow: ["*.example.com"] } }, {}, "pass", /besides: \*\.example\.com/],
    ["egress.unbound", one({ url: "https://a.example/mcp" }), {}, "not-applicable", /no local server/],
    ["caps.sizes", local(), {}, "pass", /16 MiB/],
  ])("%s of %j", (id, raw, more, state, what) => {
    const verdict = judge(id, raw, more);
    expect(verdict.state).toBe(state);
    expect(texts(verdict)).toMatch(what);
    expect(verdict.fix === null).toBe(state !== "fail");
  });

  it("what fails nothing and is worth knowing is said beside it", () => {
    expect(left(judge("privilege.sandbox", local()))).toContain("all your rights");
    expect(left(judge("egress.unbound", local()))).toContain("opens any connection it likes");
    expect(left(judge("egress.unbound", local({ sandbox: { net: ["any"] } })))).toContain("whole network");
    expect(left(judge("egress.unbound", local({ sandbox: {} })))).toBe("");
    expect(left(judge("servers.commands", one({ command: "sudo", args: ["x"] })))).toContain("another user");
    expect(left(judge("servers.commands", local(), { isRoot: true }))).toContain("runs as root");
    expect(left(judge("approvals.channels", {}))).toContain("--yes");
    expect(
      left(judge("approvals.channels", { approvals: { yes: false }, gateway: { listen: "0.0.0.0:1" } })),
    ).toContain("from other machines");
    expect(left(judge("approvals.grades", local({ source: "own", tools: { "r_*": "L0" } })))).toContain(
      "every tool of such a name",
    );
    expect(left(judge("approvals.grades", local({ tools: { "r_*": "L0" } })))).toContain(
      "no effect without a `source`",
    );
    expect(
      left(judge("egress.addresses", one({ url: "http://127.0.0.1:1/", allowPrivateAddresses: true }))),
    ).toContain("loopback");
    expect(left(judge("audit.record", { audit: { retention: "7d" } }))).toContain("90 days");
    expect(left(judge("caps.sizes", local({ limits: { messageBytes: "64MiB" } })))).toContain("messageBytes");
    expect(left(judge("output.provenance", local({ labels: ["trusted"] })))).toContain("trusted");
    expect(
      left(judge("egress.hosts", { egress: { allow: ["*.a.example"], certificates: ["./ca.pem"] } })),
    ).toContain("/p/ca.pem");
  });
});
