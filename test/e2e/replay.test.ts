/** `portcullis replay`: another policy on calls that really were made, with what the record does not hold said aloud. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openHost } from "../../src/host/host.ts";
import type { ReplayedCall, ReplayReport } from "../../src/host/replay.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const SECRET = "s3cret-value-of-the-test";

const code = {
  code: {
    command: process.execPath,
    args: [fileURLToPath(new URL("../servers/toxic-flow.mjs", import.meta.url))],
    tools: { read_private: "L0" },
  },
};

let bench: Workbench;
let calls: Record<string, string>;
beforeAll(async () => {
  bench = createWorkbench();
  const entry = {
    ...bench.ledgerEntry({ source: "own", labels: ["public", "trusted", "internal"] }),
    tools: { read: "L0", write: "L2", remove: { grade: "L1", ask: true }, env: "off" },
  } as JsonObject;
  bench.writeConfig({
    mcpServers: {
      ...code,
      ledger: { ...entry, env: { ...(entry["env"] as JsonObject), TOKEN: "${env:TOKEN}" } },
    },
    approvals: { grants: "on" },
  });
  const host = await openHost({
    config: bench.configFile,
    stateDir: bench.stateDir,
    resolveSecret: ({ reference }) => (reference.name === "TOKEN" ? SECRET : undefined),
    onApproval: async () => ({ verdict: "approve", by: "ann" }),
  });
  const turn = host.turn();
  const make = async (tool: string, args: JsonObject) => (await turn.call(`ledger__${tool}`, args)).callId;
  calls = {
    read: await make("read", { text: "hi" }),
    write: await make("write", { text: "hello" }),
    secret: await make("write", { text: SECRET }),
    long: await make("write", { text: "x ".repeat(20_000) }),
    remove: await make("remove", { ids: ["a"] }),
    hoard: (await turn.call("code__read_private", {})).callId,
    found: await make("write", { text: "about FAKE-PRIVATE-7f3a" }),
    off: await make("env", {}),
    wrong: await make("write", { nonsense: 1 }),
    elsewhere: await make("nothing", {}),
  };
  await host.close();
}, 60_000);
afterAll(() => bench.remove());

const entry = (tools: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...code,
  ledger: {
    ...bench.ledgerEntry({ source: "own", labels: ["public", "trusted", "internal"], ...more }),
    tools,
  },
});

async function replay(policy: JsonObject, words: readonly string[] = []): Promise<ReplayReport> {
  const file = join(bench.dir, "other.json");
  writeFileSync(file, JSON.stringify(policy));
  const run = await bench.run(["replay", "--policy", file, "--json", ...words]);
  expect([run.stderr, run.exitCode]).toEqual(["", 0]);
  return run.json as unknown as ReplayReport;
}
const of = (report: ReplayReport, name: string): ReplayedCall | undefined =>
  report.calls.find(({ callId }) => callId === calls[name]);

describe("replay", { timeout: 60_000 }, () => {
  const same = { read: "L0", write: "L2", remove: { grade: "L1", ask: true }, env: "off" };

  it("the same policy decides the same; nothing is called and nothing recorded", async () => {
    const before = [bench.ledger().length, (await bench.run(["activity", "--json"])).stdout];
    const report = await replay({ mcpServers: entry(same) });
    expect(report.summary).toMatchObject({ calls: 8, same: 8, stricter: 0, looser: 0, undecided: 2 });
    expect(of(report, "write")).toMatchObject({
      was: { verdict: "ask", grade: "L2", outcome: "completed" },
      change: "same",
    });
    expect(of(report, "off")).toMatchObject({ was: { verdict: "deny", code: "tool_off" } });
    expect([bench.ledger().length, (await bench.run(["activity", "--json"])).stdout]).toEqual(before);
  });

  it("tells what would be stricter and what looser, and why", async () => {
    const report = await replay({
      mcpServers: entry({ read: "L3", write: "L1", remove: "L1", env: "L0" }),
    });
    expect(of(report, "read")).toMatchObject({
      change: "stricter",
      would: {
        verdict: "deny",
        grade: "L3",
        code: "tool_not_enabled",
        gradeFrom: "mcpServers.ledger.tools.read",
      },
    });
    expect(of(report, "write")).toMatchObject({ change: "looser", would: { verdict: "allow", grade: "L1" } });
    expect(of(report, "remove")).toMatchObject({ change: "looser" });
    expect(of(report, "off")).toMatchObject({ change: "looser", would: { verdict: "allow" } });
  });

  it("conditions and guards see the recorded arguments; where those were redacted or cut it says so", async () => {
    const guard = { match: { argument: "text", pattern: "^(hello|about .*)$" } };
    const report = await replay({ mcpServers: entry({ ...same, write: { grade: "L2", guard } }) });
    expect(of(report, "write")).toMatchObject({
      change: "same",
      arguments: "exact",
      isCertain: true,
      notes: [],
    });
    expect(of(report, "secret")).toMatchObject({
      change: "stricter",
      arguments: "redacted",
      isCertain: false,
      would: { code: "guard_denied" },
      notes: [expect.stringContaining("redacted") as string],
    });
    expect(of(report, "long")).toMatchObject({ arguments: "cut", isCertain: false });
    expect(report.summary.uncertain).toBe(2);
    expect(JSON.stringify(report)).not.toContain(SECRET);
    const plain = await replay({ mcpServers: entry(same) });
    expect(of(plain, "long")).toMatchObject({ arguments: "cut", isCertain: true });
  });

  it("what was found about the arguments then counts again", async () => {
    const report = await replay({ mcpServers: entry(same), approvals: { provenance: "deny" } });
    expect(of(report, "found")).toMatchObject({
      change: "stricter",
      would: {
        verdict: "deny",
        code: "policy_denied",
        reasons: expect.arrayContaining([expect.objectContaining({ rule: "provenance.value" })]) as unknown,
      },
    });
    expect(of(report, "write")).toMatchObject({ change: "same" });
  });

  it("a server that the other configuration does not have would be refused", async () => {
    const report = await replay({ mcpServers: {} });
    expect(report.summary).toMatchObject({ calls: 8, stricter: 7, same: 1 });
    expect(of(report, "read")?.would).toMatchObject({ verdict: "deny", code: "unknown_server" });
  });

  it("takes a part of the calls", async () => {
    expect((await replay({ mcpServers: entry(same) }, ["--server", "nobody"])).calls).toEqual([]);
    expect((await replay({ mcpServers: entry(same) }, ["--limit", "2"])).calls.length).toBeLessThanOrEqual(2);
    expect((await replay({ mcpServers: entry(same) }, ["--since", "1h"])).calls).toHaveLength(8);
  });

  it("prints what would change as a table, and what it cannot know", async () => {
    writeFileSync(
      join(bench.dir, "other.json"),
      JSON.stringify({ mcpServers: entry({ ...same, write: "L1" }) }),
    );
    const run = await bench.run(["replay", "--policy", "other.json"]);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toContain("8 recorded calls: 4 decided the same, 0 more strictly, 4 more loosely.");
    expect(run.stdout).toContain("Approvals and grants do not count here");
    expect(run.stdout.split("\n").filter((line) => line.includes("looser"))).toHaveLength(4);
    expect((await bench.run(["replay", "--policy", "other.json", "--all"])).stdout).toContain("ledger read");
  });

  it("a wrong policy is told with its place, and nothing is guessed", async () => {
    writeFileSync(join(bench.dir, "wrong.json"), '{\n  "mcpServres": {}\n}');
    const run = await bench.run(["replay", "--policy", "wrong.json"]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain("2");
    expect((await bench.run(["replay"])).exitCode).toBe(2);
    expect((await bench.run(["replay", "--policy", "gone.json"])).exitCode).not.toBe(0);
  });
});
