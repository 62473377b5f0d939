import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CheckReport } from "../../src/host/api.ts";
import type { CheckLine } from "../../src/host/check-line.ts";
import { createWorkbench, type CliRun, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.remove());

const reportOf = (run: CliRun): CheckReport => run.json as unknown as CheckReport;
function lineOf(run: CliRun, id: string): CheckLine {
  const line = reportOf(run).lines.find((one) => one.id === id);
  if (line === undefined) throw new Error(`no line ${id}`);
  return line;
}

describe("portcullis check", { timeout: 90_000 }, () => {
  it("passes where everything is as it should be, and points at file and line", async () => {
    const entry = bench.ledgerEntry({ source: "own", tools: { read: "L0" } });
    bench.writeConfig({ mcpServers: { ledger: entry } });
    chmodSync(bench.configFile, 0o600);
    await bench.run(["tools", "--refresh"]);
    await bench.run(["review", "ledger", "--accept"]);
    const run = await bench.run(["check", "--json"]);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(reportOf(run)).toMatchObject({ ok: true, failed: 0, file: bench.configFile });
    const [source] = lineOf(run, "servers.source").evidence;
    expect(source).toMatchObject({ file: bench.configFile, setting: "mcpServers.ledger.source" });
    const lines = readFileSync(bench.configFile, "utf8").split("\n");
    expect(lines[(source?.line ?? 0) - 1]).toContain('"source": "own"');
    expect(lineOf(run, "servers.definitions")).toMatchObject({ state: "pass" });
  });

  it("fails on each gap with its fix, and ends with 3", async () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    bench.writeConfig({
      mcpServers: {
        ledger: bench.ledgerEntry({ tools: { write: "L1" }, scan: "note", env: { GITHUB_TOKEN: secret } }),
        floating: { source: "audited", command: "npx", args: ["-y", "some-package"] },
      },
      gateway: { requireToken: false },
    });
    const run = await bench.run(["check", "--json"]);
    expect(run.exitCode).toBe(3);
    const failed = reportOf(run).lines.filter(({ state }) => state === "fail");
    expect(failed.map(({ id }) => id)).toEqual([
      "servers.source",
      "servers.versions",
      "output.scan",
      "approvals.channels",
      "approvals.undo",
      "secrets.config",
    ]);
    for (const { fix } of failed) expect(fix).not.toBeNull();
    expect(lineOf(run, "servers.versions").fix).toContain("portcullis lock floating");
    const text = await bench.run(["check"]);
    expect(text.exitCode).toBe(3);
    expect(text.stdout).toContain("FAIL  every L1 tool says how it is undone");
    for (const out of [run.stdout, run.stderr, text.stdout, text.stderr]) expect(out).not.toContain(secret);
  });

  it("sees modes that others could use, and records that somebody changed", async () => {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
    });
    await bench.run(["call", "ledger", "read", "{}"]);
    writeFileSync(join(bench.stateDir, "gateway.json"), "{}");
    chmodSync(join(bench.stateDir, "gateway.json"), 0o644);
    chmodSync(bench.configFile, 0o666);
    const database = new DatabaseSync(join(bench.stateDir, "state.db"));
    database.exec(
      "DROP TRIGGER records_are_never_updated; UPDATE records SET body = '{}' WHERE sequence = 1",
    );
    database.close();
    const run = await bench.run(["check", "--json"]);
    expect(lineOf(run, "state.place")).toMatchObject({ state: "fail" });
    expect(lineOf(run, "state.place").fix).toContain("gateway.json");
    expect(lineOf(run, "state.place").fix).toContain(`chmod go-w ${bench.configFile}`);
    expect(lineOf(run, "audit.record")).toMatchObject({ state: "fail" });
  });

  it("--live proves it with hostile servers of its own, and what was proven stays as evidence [SEC-04]", async () => {
    bench.writeConfig({ mcpServers: {} });
    expect(lineOf(await bench.run(["check", "--json"]), "egress.redirects").proven).toBeNull();
    const live = await bench.run(["check", "--live", "--json"]);
    expect(live).toMatchObject({ exitCode: 0, stderr: "" });
    const later = await bench.run(["check", "--json"]);
    for (const run of [live, later]) {
      expect(lineOf(run, "egress.redirects").proven).toMatchObject({ ok: true });
      expect(lineOf(run, "egress.redirects").proven?.detail).toContain("the canary there saw 0 connections");
      expect(lineOf(run, "egress.addresses").proven?.detail).toContain("saw 0 connections");
      expect(lineOf(run, "caps.sizes").proven?.detail).toMatch(
        /cut off after about \d+ MiB \(message_too_large\)/,
      );
    }
  });
});
