/** Compiled server entries and tool rules for tests of what reads them: complete, with only what matters said. */
import type { ServerConfig, ToolRule } from "../../src/config/compiled.ts";

export function toolRule(pattern: string, more: Partial<ToolRule> = {}): ToolRule {
  return {
    pattern,
    isExact: !pattern.includes("*"),
    path: `mcpServers.test.tools["${pattern}"]`,
    grade: null,
    enabled: false,
    ask: false,
    when: [],
    say: null,
    items: null,
    confirm: null,
    preview: null,
    guards: [],
    undo: null,
    idempotent: false,
    labels: [],
    timeoutMs: null,
    schema: null,
    ...more,
  };
}

export function serverConfig(more: Partial<ServerConfig> = {}): ServerConfig {
  return {
    name: "test",
    digest: "0",
    launchDigest: "0",
    package: null,
    launch: { kind: "stdio", command: { template: "node" }, args: [], env: {}, cwd: "/" },
    auth: null,
    source: "official",
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
    idleStopMs: null,
    scan: "mark",
    inputs: null,
    degraded: null,
    rollout: null,
    sandbox: null,
    allowPrivateAddresses: false,
    disabled: false,
    blocked: null,
    ...more,
  };
}
