import { describe, expect, it } from "vitest";
import { checkConfig } from "../../../src/config/check.ts";
import { formatPath } from "../../../src/config/problems.ts";

function problemsOf(value: unknown): string[] {
  const checked = checkConfig(value);
  return checked.ok
    ? []
    : checked.problems.map((problem) => `${formatPath(problem.path)}: ${problem.message}`);
}

const withServer = (entry: object): object => ({ mcpServers: { a: { command: "x", ...entry } } });

describe("unknown keys", () => {
  it.each([
    [{ mcpServer: {} }, "mcpServer: unknown key `mcpServer`; did you mean `mcpServers`?"],
    [withServer({ tols: {} }), "mcpServers.a.tols: unknown key `tols`; did you mean `tools`?"],
    [
      withServer({ limits: { time_out: "3s" } }),
      "mcpServers.a.limits.time_out: unknown key `time_out`; did you mean `timeout`?",
    ],
    [
      withServer({ tools: { "x_*": { grad: "L0" } } }),
      'mcpServers.a.tools["x_*"].grad: unknown key `grad`; did you mean `grade`?',
    ],
    [
      withServer({ tools: { x: { guard: { sql: [{ argument: "q", dialekt: "mysql" }] } } } }),
      "mcpServers.a.tools.x.guard.sql[0].dialekt: unknown key `dialekt`; did you mean `dialect`?",
    ],
    [{ log: { colour: true } }, "log.colour: unknown key `colour`; keys here are `level` or `format`"],
  ])("%j", (value, message) => {
    expect(problemsOf(value)).toEqual([message]);
  });

  it("shows control characters in a key instead of printing them", () => {
    expect(problemsOf({ "a\u001b[31m": 1 })[0]).not.toContain("\u001b");
  });
});

describe("keys of other clients", () => {
  it.each([
    ["envFile", ".env", "is not read"],
    ["serverUrl", "https://x.example", "call it `url`"],
    ["httpUrl", "https://x.example", "call it `url`"],
    ["autoApprove", ["x"], "write grades"],
    ["alwaysAllow", ["x"], "write grades"],
    ["trust", true, "write grades"],
    ["enabled", true, '"disabled": true'],
    ["oauth", {}, '"auth": { "type": "oauth"'],
    ["headersHelper", "x", "use a reference"],
    ["includeTools", ["x"], '"default": "off"'],
    ["excludeTools", ["x"], '"off"'],
    ["disabledTools", ["x"], '"off"'],
    ["bearer_token_env_var", "X", "Bearer ${env:VARIABLE}"],
    ["startup_timeout_sec", 10, '"connect": "10s"'],
    ["tool_timeout_sec", 10, '"timeout": "60s"'],
    ["description", "x", '"scope"'],
    ["dev", {}, "remove it"],
    ["sandboxEnabled", true, "`sandbox`"],
  ])("refuses `%s` by name and says what to do", (key, value, advice) => {
    const [message, ...rest] = problemsOf(withServer({ [key]: value }));
    expect(rest).toEqual([]);
    expect(message).toContain(`\`${key}\``);
    expect(message).toContain(advice);
  });

  it.each(["servers", "mcp_servers", "context_servers", "inputs", "projects", "mcp"])(
    "refuses `%s` at the top with the way to import",
    (key) => {
      expect(problemsOf({ [key]: {} })[0]).toContain(`\`${key}\``);
    },
  );

  it("understands what an `.mcp.json` holds", () => {
    expect(
      problemsOf({
        mcpServers: {
          a: { type: "stdio", command: "x", args: [], env: {}, timeout: 60_000, disabled: false },
          b: {
            type: "http",
            url: "https://b.example/mcp",
            headers: { Authorization: "Bearer ${TOKEN:-none}" },
          },
          c: { type: "streamable-http", url: "https://c.example/mcp" },
        },
      }),
    ).toEqual([]);
  });

  it("refuses a `timeout` that can only mean seconds, and Copilot's list of tools", () => {
    expect(problemsOf(withServer({ timeout: 60 }))[0]).toContain("is under a second");
    expect(problemsOf(withServer({ tools: ["*"] }))[0]).toContain("as Copilot writes it");
  });
});

describe("values", () => {
  it.each([
    [{ limits: { timeout: 30 } }, "limits.timeout: write a whole number and a unit"],
    [{ limits: { timeout: "30 s" } }, "limits.timeout: write a whole number and a unit"],
    [{ limits: { timeout: "5ms" } }, 'limits.timeout: must lie between "1s" and "3650d"'],
    [{ limits: { concurrency: 0 } }, "limits.concurrency: must be at least 1"],
    [{ limits: { concurrency: 1.5 } }, "limits.concurrency: expected a whole number, got `1.5`"],
    [{ limits: { concurrency: 1e300 } }, "limits.concurrency: must be at most 1024"],
    [{ limits: { resultBytes: 1e300 } }, 'limits.resultBytes: must lie between "1KiB" and "256MiB"'],
    [{ limits: { resultBytes: -1 } }, 'limits.resultBytes: must lie between "1KiB" and "256MiB"'],
    [{ limits: { resultBytes: "1 MB" } }, "limits.resultBytes: expected a number of bytes"],
    [{ limits: { resultBytes: 3 } }, 'limits.resultBytes: must lie between "1KiB" and "256MiB"'],
    [{ tools: { x: "l2" } }, "tools.x: expected a grade"],
    [{ tools: { x: { grade: "l2" } } }, "did you mean `L2`?"],
    [{ tools: { "": "L0" } }, "must not be empty"],
    [{ tools: { "**********": "L0" } }, "at most eight `*`"],
    [{ tools: { x: { guard: { number: { argument: "n" } } } } }, "give `min`, `max` or both"],
    [{ tools: { x: { guard: { path: { argument: "p" } } } } }, "`roots` is missing: add it"],
    [{ tools: { x: { guard: { match: { argument: "p", pattern: "(?=x)" } } } } }, "RE2 syntax"],
    [{ labels: ["private", "public"] }, "exclude each other"],
    [{ idleStop: 5 }, "idleStop: expected a duration"],
    [{ env: { "A-B": "x" } }, "is no name of an environment variable"],
    [{ env: { A: 5 } }, "env.A: expected text in quotes, got `5`"],
    [{ args: ["${x y}"] }, "is no name of a variable"],
    [{ args: ["${input:token}"] }, "asked for by an editor"],
    [{ args: ["${workspaceFolder}/x"] }, "write a path relative to this file"],
    [{ args: ["${A:-${B}}"] }, "references do not nest"],
    [{ args: ["${A"] }, "is never closed"],
    [{ source: "custom" }, "is Zed's"],
    [{ source: "offical" }, "did you mean `official`?"],
    [{ rollout: { percent: 101 } }, "must be at most 100"],
  ])("%j", (entry, message) => {
    const problems = problemsOf(withServer(entry));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });

  it("never quotes what looks like a secret", () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ";
    const text = problemsOf(withServer({ source: secret, connect: secret, idleStop: secret })).join("\n");
    expect(text).not.toContain(secret);
  });

  it.each(["my server", "a__b", "-x", "portcullis", "Portcullis", "", "a".repeat(65), "ü"])(
    "refuses %j as the name of a server",
    (name) => {
      expect(problemsOf({ mcpServers: { [name]: { command: "x" } } })).toHaveLength(1);
    },
  );

  it.each([
    ["egress", { allow: ["https://x.example"] }],
    ["gateway", { listen: "localhost" }],
    ["gateway", { listen: "h:70000" }],
  ])("refuses %s %j", (key, value) => {
    expect(problemsOf({ [key]: value })).toHaveLength(1);
  });

  it("reports everything, not the first", () => {
    const problems = problemsOf({
      mcpServers: { a: { comand: 1, source: "x", tools: { t: 7 } } },
      lgo: {},
      catalog: true,
    });
    expect(problems).toHaveLength(5);
  });

  it("stays quick and bounded on very many unknown keys", () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_000 }, (_unused, index) => [`key${index}`, index]),
    );
    expect(problemsOf(many)).toHaveLength(1_000);
  });
});
