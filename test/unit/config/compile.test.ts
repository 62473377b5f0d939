import { describe, expect, it } from "vitest";
import { compileConfig } from "../../../src/config/compile.ts";
import type { Config, ServerConfig, ToolRule } from "../../../src/config/compiled.ts";
import type { ConfigFacts } from "../../../src/config/facts.ts";
import { PortcullisError } from "../../../src/errors.ts";

const facts: ConfigFacts = {
  file: null,
  baseDir: "/srv dir",
  homeDir: "/home/me",
  platform: "linux",
  stateDir: "/home/me/.local/state/portcullis/x",
};

function compile(raw: unknown, more: Partial<ConfigFacts> = {}): Config {
  return compileConfig(raw, { ...facts, ...more });
}

function server(entry: object, more: Partial<ConfigFacts> = {}): ServerConfig {
  const found = compile({ mcpServers: { a: entry } }, more).servers.get("a");
  if (found === undefined) throw new Error("no server");
  return found;
}

function errorOf(raw: unknown, more: Partial<ConfigFacts> = {}): PortcullisError {
  try {
    compile(raw, more);
  } catch (error) {
    if (error instanceof PortcullisError) return error;
    throw error;
  }
  throw new Error("it compiled");
}

describe("defaults", () => {
  it("are those of the design, for an empty configuration", () => {
    expect(compile({})).toEqual({
      file: null,
      digest: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
      servers: new Map(),
      egress: { allow: [], proxy: null, certificates: [] },
      approvals: {
        timeoutMs: 300_000,
        grants: "off",
        channels: ["terminal", "console", "callback"],
        channelsByGrade: {
          L0: ["terminal", "console", "callback"],
          L1: ["terminal", "console", "callback"],
          L2: ["terminal", "console", "callback"],
          L3: ["terminal", "console", "callback"],
        },
        onProvenance: "ask",
        yes: true,
      },
      audit: { retentionMs: 90 * 86_400_000 },
      gateway: { host: "127.0.0.1", port: 7420, requireToken: true },
      limits: { concurrency: 64, startAtOnce: 8 },
      store: { kind: "sqlite" },
      catalog: { mode: "auto", thresholdTokens: 6_000 },
      log: { level: "info", format: "text" },
      telemetry: null,
      notify: { desktop: false, command: null, webhook: null },
      stateDir: facts.stateDir,
      warnings: [],
    });
  });

  it("are those of the design, for a server", () => {
    const { digest, launchDigest, ...rest } = server({ command: "node", args: ["./x.js"] });
    expect([digest, launchDigest]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(rest).toEqual({
      name: "a",
      package: null,
      launch: {
        kind: "stdio",
        command: { template: "node" },
        args: [{ template: "./x.js" }],
        env: {},
        cwd: "/srv dir",
      },
      auth: null,
      source: null,
      scope: { may: null, mayNot: null },
      tools: [],
      defaultGrade: "L2",
      labels: [],
      limits: {
        timeoutMs: 30_000,
        totalMs: 600_000,
        connectMs: 30_000,
        concurrency: 8,
        perMinute: null,
        resultBytes: 1_048_576,
        modelTokens: 25_000,
        messageBytes: 16_777_216,
      },
      connect: "lazy",
      idleStopMs: 900_000,
      scan: "block",
      inputs: null,
      degraded: null,
      rollout: null,
      sandbox: null,
      allowPrivateAddresses: false,
      disabled: false,
      blocked: null,
    });
  });

  it.each([
    ["a local server", { command: "x" }, 900_000],
    ["a remote one for all", { url: "https://x.example" }, null],
    ["a remote one for all that says so", { url: "https://x.example", idleStop: "1h" }, 3_600_000],
    [
      "sessions of single principals",
      { url: "https://x.example", auth: { type: "oauth", per: "principal" } },
      900_000,
    ],
    ["such as are to be kept", { url: "https://x.example", idleStop: "never" }, null],
  ] as const)("stop what is not used: %s", (_what, entry, idleStopMs) => {
    expect(server(entry).idleStopMs).toBe(idleStopMs);
  });

  it("give a runner that may have to download first two minutes", () => {
    expect(server({ command: "npx", args: ["-y", "x@1.2.3"] }).limits.connectMs).toBe(120_000);
    expect(
      server({ command: "npx", args: ["-y", "x@1.2.3"], limits: { connect: "5s" } }).limits.connectMs,
    ).toBe(5_000);
  });
});

describe("the compiled form", () => {
  it("is frozen through and through, and the caller's object is not touched", () => {
    const raw = {
      mcpServers: {
        a: { command: "x", tools: { t: { grade: "L1", undo: { tool: "u", args: { n: [1] } } } } },
      },
    };
    const before = JSON.stringify(raw);
    const config = compile(raw);
    expect(JSON.stringify(raw)).toBe(before);
    expect(Object.isFrozen(raw.mcpServers.a.tools.t.undo.args.n)).toBe(false);
    const rule = config.servers.get("a")?.tools[0];
    expect(Object.isFrozen(rule?.undo?.args)).toBe(true);
    expect(Object.isFrozen(config.approvals.channels)).toBe(true);
    expect(() => (config.servers as Map<string, unknown>).set("b", {})).toThrow(TypeError);
  });

  it("leaves `undefined` members of an object in code out", () => {
    expect(
      compile({ log: undefined, mcpServers: { a: { command: "x", cwd: undefined } } }).servers.size,
    ).toBe(1);
  });

  it("refuses what is no JSON in an object in code", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const raw of [
      { log: () => 1 },
      { log: 1n },
      { log: Symbol("x") },
      { limits: { concurrency: Number.NaN } },
      cycle,
    ]) {
      expect(errorOf(raw).code).toBe("config_invalid");
    }
  });
});

describe("rules of tools", () => {
  const patterns = (tools: object): string[] =>
    server({ command: "x", source: "own", tools }).tools.map((rule) => rule.pattern);

  it("stand exact first, then the most specific pattern", () => {
    const tools = {
      "*": "L2",
      "read_*": "L0",
      "read_f*": "L1",
      read_file: "L3",
      "*_file": "L1",
      "a*b*": "L0",
      zzz: "L0",
    };
    expect(patterns(tools)).toEqual(["read_file", "zzz", "read_f*", "*_file", "read_*", "a*b*", "*"]);
  });

  it("stand the same whatever the order in the file, the dangerous one first on a tie", () => {
    const tools = { "ab*": "L0", "*ab": "off", "cd*": "L3" };
    const reversed = Object.fromEntries(Object.entries(tools).reverse());
    expect(patterns(tools)).toEqual(["*ab", "cd*", "ab*"]);
    expect(patterns(reversed)).toEqual(patterns(tools));
  });

  it("carry everything that the operator wrote", () => {
    const [rule] = server({
      command: "x",
      tools: {
        "q*": {
          grade: "L1",
          ask: true,
          when: [{ arguments: { to: { notMatches: "@example\\.com$" }, n: { above: 3 } }, grade: "L3" }],
          enabled: true,
          say: "Send to {to}",
          items: "list",
          confirm: "amount",
          preview: { tool: "get", args: { id: "$arguments.id" } },
          guard: {
            sql: { argument: "sql" },
            path: [
              { argument: "from", roots: ["./safe"] },
              { argument: "to", roots: ["~/x", "/y"] },
            ],
            url: { argument: "u", hosts: ["*.example.com"] },
            number: { argument: "n", max: 5 },
            match: { argument: "m", pattern: "^a+$" },
          },
          undo: { tool: "unsend" },
          idempotent: true,
          labels: ["external"],
          timeout: "2m",
          schema: { type: "object" },
        },
      },
    }).tools;
    const expected: ToolRule = {
      pattern: "q*",
      isExact: false,
      path: 'mcpServers.a.tools["q*"]',
      grade: "L1",
      enabled: true,
      ask: true,
      when: [{ arguments: { to: { notMatches: "@example\\.com$" }, n: { above: 3 } }, grade: "L3" }],
      say: "Send to {to}",
      items: "list",
      confirm: "amount",
      preview: { tool: "get", args: { id: "$arguments.id" } },
      guards: [
        { kind: "sql", argument: "sql", dialect: "postgresql", maxRows: 1_000 },
        { kind: "path", argument: "from", roots: ["/srv dir/safe"] },
        { kind: "path", argument: "to", roots: ["/home/me/x", "/y"] },
        { kind: "url", argument: "u", hosts: ["*.example.com"] },
        { kind: "number", argument: "n", min: null, max: 5 },
        { kind: "match", argument: "m", pattern: "^a+$" },
      ],
      undo: { tool: "unsend", args: {} },
      idempotent: true,
      labels: ["external"],
      timeoutMs: 120_000,
      schema: { type: "object" },
    };
    expect(rule).toEqual(expected);
  });

  const warnings = (entry: object): string[] =>
    compile({ mcpServers: { a: { command: "x", ...entry } } }).warnings.map(
      (warning) => `${warning.path}: ${warning.message}`,
    );

  it("warn about a pattern below L2 without `source`, not about exact names", () => {
    expect(warnings({ tools: { "read_*": "L0", read: "L0", "w*": "L2" } })).toEqual([
      'mcpServers.a.tools["read_*"]: a pattern below L2 counts only where "source" is set: set it, or name the tools',
    ]);
    expect(warnings({ source: "own", tools: { "read_*": "L0" } })).toEqual([]);
    expect(warnings({ default: "L0" })).toHaveLength(1);
  });

  it("warn about settings without effect", () => {
    expect(warnings({ tools: { t: { grade: "L2", enabled: true } } })[0]).toContain("enabled: has no effect");
    expect(warnings({ tools: { t: { grade: "L2", undo: { tool: "u" } } } })[0]).toContain(
      "undo: has no effect",
    );
    expect(warnings({ tools: { t: { grade: "L2", confirm: "x" } } })[0]).toContain("confirm: has no effect");
    expect(
      warnings({
        tools: { t: { grade: "L2", when: [{ arguments: { a: { isPresent: true } }, grade: "L1" }] } },
      })[0],
    ).toContain("never raises anything");
    expect(
      warnings({
        tools: {
          t: { enabled: true, confirm: "x", when: [{ arguments: { a: { above: 1 } }, grade: "L3" }] },
        },
      }),
    ).toEqual([]);
  });

  it.each([
    [{ tools: { t: { grade: "L0", ask: true } } }, "an L0 call is never asked about"],
    [{ tools: { t: { grade: "L2", say: "to {x" } } }, "a brace that is not part of"],
    [{ tools: { t: { grade: "L2", when: [{ arguments: { x: {} }, grade: "L3" }] } } }, "tests nothing"],
  ])("refuse %j", (entry, message) => {
    expect(errorOf({ mcpServers: { a: { command: "x", ...entry } } }).message).toContain(message);
  });
});

describe("digests", () => {
  const base = { command: "x", args: ["1"], tools: { t: "L2" }, limits: { timeout: "5s" } };

  it("change with the entry, and only with the entry", () => {
    const reordered = { limits: { timeout: "5s" }, tools: { t: "L2" }, args: ["1"], command: "x" };
    expect(server(base).digest).toBe(server(reordered).digest);
    expect(compile({ log: {}, mcpServers: { b: { command: "y" }, a: base } }).servers.get("a")?.digest).toBe(
      server(base).digest,
    );
    for (const change of [
      { args: ["2"] },
      { tools: { t: "L1" } },
      { limits: { timeout: "6s" } },
      { disabled: true },
    ]) {
      expect(server({ ...base, ...change }).digest).not.toBe(server(base).digest);
    }
  });

  it("of the launch change only with what is started or reached", () => {
    const launch = (change: object): string => server({ ...base, ...change }).launchDigest;
    for (const change of [
      { tools: {} },
      { limits: {} },
      { disabled: true },
      { source: "own" },
      { scan: "note" },
    ]) {
      expect(launch(change)).toBe(launch({}));
    }
    for (const change of [{ args: [] }, { env: { A: "1" } }, { cwd: "/" }, { command: "y" }]) {
      expect(launch(change)).not.toBe(launch({}));
    }
  });
});

describe("the rest", () => {
  it("reads gateway addresses; without one only this machine reaches it, with a token [GW-02]", () => {
    expect(compile({}).gateway).toEqual({ host: "127.0.0.1", port: 7420, requireToken: true });
    expect(compile({ gateway: { listen: "[::1]:0" } }).gateway).toEqual({
      host: "::1",
      port: 0,
      requireToken: true,
    });
    expect(compile({ gateway: { listen: "localhost:80", requireToken: false } }).warnings).toEqual([]);
    expect(compile({ gateway: { listen: "0.0.0.0:80" } }).warnings[0]?.message).toContain("TLS proxy");
    expect(errorOf({ gateway: { listen: "0.0.0.0:80", requireToken: false } }).message).toContain(
      "only loopback",
    );
  });

  it("lets `--state` win over `store`, and takes only rooted folders", () => {
    expect(compile({ store: "~/state" }).stateDir).toBe("/home/me/state");
    expect(compile({ store: "~/state" }, { isStateDirGiven: true }).stateDir).toBe(facts.stateDir);
    expect(errorOf({ store: "./state" }).message).toContain("must be an absolute folder");
    for (const store of ["postgresql://me@h/db", "postgres://me:${env:PW}@h/db", "${env:DATABASE_URL}"]) {
      const { store: compiled, stateDir } = compile({ store });
      expect({ compiled, stateDir }).toEqual({
        compiled: { kind: "postgresql", url: { template: store } },
        stateDir: facts.stateDir,
      });
      expect(compile({ store }, { isStateDirGiven: true }).store).toEqual({ kind: "sqlite" });
    }
    expect(errorOf({ store: "${env:HOME}/state" }).message).toContain("must be an absolute folder");
  });

  it("reads the three forms of `catalog`", () => {
    expect(compile({ catalog: "whole" }).catalog.mode).toBe("whole");
    expect(compile({ catalog: "search" }).catalog.mode).toBe("search");
    expect(compile({ catalog: 100 }).catalog).toEqual({ mode: "auto", thresholdTokens: 100 });
  });

  it("takes milliseconds of other clients as the time-out, but not beside its own", () => {
    expect(server({ command: "x", timeout: 60_000 }).limits.timeoutMs).toBe(60_000);
    expect(
      errorOf({ mcpServers: { a: { command: "x", timeout: 60_000, limits: { timeout: "1m" } } } }).message,
    ).toContain("stands beside");
  });

  it("refuses names that differ in case only", () => {
    expect(errorOf({ mcpServers: { git: { command: "x" }, Git: { command: "y" } } }).message).toContain(
      "in case only",
    );
  });

  it("says `config_not_yet` only where nothing else is wrong", () => {
    expect(errorOf({ egress: { proxy: "http://p:1" } }).code).toBe("config_not_yet");
    expect(errorOf({ egress: { proxy: "http://p:1" }, lgo: 1 }).code).toBe("config_invalid");
  });

  it("names every problem in `data` and in the message", () => {
    const error = errorOf({ lgo: 1, mcpServers: { a: {}, b: { command: "x", url: "https://y" } } });
    const problems = error.data["problems"];
    expect(problems).toHaveLength(1);
    expect(error.message).toContain("lgo");
    expect(
      errorOf({ mcpServers: { a: {}, b: { command: "x", url: "https://y" } } }).data["problems"],
    ).toHaveLength(2);
  });
});

describe("approvals", () => {
  it("channels may be told for all grades, or for some", () => {
    const every = ["terminal", "console", "callback"];
    const { approvals } = compile({ approvals: { channels: ["console"] } });
    expect(approvals.channelsByGrade).toEqual({
      L0: ["console"],
      L1: ["console"],
      L2: ["console"],
      L3: ["console"],
    });
    const some = compile({ approvals: { channels: { L2: ["terminal"], L3: [] }, provenance: "deny" } });
    expect(some.approvals).toMatchObject({
      channels: every,
      channelsByGrade: { L0: every, L1: every, L2: ["terminal"], L3: [] },
      onProvenance: "deny",
    });
  });
});
