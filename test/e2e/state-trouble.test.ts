import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHost } from "../../src/host/host.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;

beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { write: "L1", read: "L0" } }) },
  });
});
afterEach(() => bench.remove());

describe("a state that cannot be used", { timeout: 60_000 }, () => {
  it.each([
    ["a folder in the place of its file", (state: string) => mkdirSync(join(state, "state.db"))],
    ["a link that leads nowhere", (state: string) => symlinkSync("/none/at/all", join(state, "state.db"))],
    ["text", (state: string) => writeFileSync(join(state, "state.db"), "my notes ".repeat(1_000))],
    ["a short key", (state: string) => writeFileSync(join(state, "vault.key"), "short", { mode: 0o600 })],
  ])("stops every command, sends nothing, and doctor says so too: %s", async (_what, spoil) => {
    mkdirSync(bench.stateDir, { mode: 0o700 });
    spoil(bench.stateDir);
    for (const words of [["status"], ["call", "ledger", "write", '{"text":"never"}']]) {
      const { exitCode, json, stderr } = await bench.run([...words, "--json"]);
      expect(exitCode).toBe(70);
      expect(json).toMatchObject({
        error: { code: "state_unusable", message: expect.stringContaining(`\`${bench.stateDir}/`) },
      });
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(bench.sent("write")).toBe(0);
    const { exitCode, stdout } = await bench.run(["doctor"]);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(new RegExp(`PROBLEM .*${bench.stateDir}/`));
  });

  it("an empty name is a mistake, and not the working directory", async () => {
    const before = [statSync(bench.dir).mode, readdirSync(bench.dir)];
    expect(await bench.run(["status", "--state", ""])).toMatchObject({ exitCode: 2 });
    expect(await bench.run(["status", "--config", ""])).toMatchObject({ exitCode: 2 });
    expect([statSync(bench.dir).mode, readdirSync(bench.dir)]).toEqual(before);
    await expect(openHost({ config: bench.configFile, stateDir: "" })).rejects.toMatchObject({
      code: "usage",
    });
  });
});

describe("a state that is taken away while a host uses it", { timeout: 60_000 }, () => {
  it("lets nothing be sent any more, and says why", async () => {
    const host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
    const turn = host.turn({ principal: "local" });
    expect(await turn.call("ledger__write", { text: "first" })).toMatchObject({ effect: "applied" });
    renameSync(bench.stateDir, `${bench.stateDir}-elsewhere`);
    expect(await turn.call("ledger__write", { text: "second" })).toMatchObject({
      outcome: "refused",
      code: "audit_unavailable",
      effect: "none",
    });
    expect(bench.sent("write")).toBe(1);
    await host.close();
  });

  it("says at the end what could not be kept", async () => {
    const host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
    await host.turn({ principal: "local" }).call("ledger__read", { text: "short" });
    rmSync(bench.stateDir, { recursive: true });
    await expect(host.close()).rejects.toMatchObject({
      code: "state_unusable",
      message: expect.stringContaining(bench.stateDir),
    });
  });
});
