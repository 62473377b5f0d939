import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DoctorLine, DoctorReport } from "../../src/operations/doctor.ts";
import { runBare } from "../support/bare-cli.ts";
import { startLocalServer } from "../support/local-http.ts";
import { createWorkbench, type CliRun, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.remove());

const problems = (run: CliRun): readonly DoctorLine[] =>
  (run.json as unknown as DoctorReport).lines.filter(({ state }) => state === "problem");

describe("portcullis doctor", { timeout: 60_000 }, () => {
  it("finds nothing wrong, and makes nothing, where nothing is there yet", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() }, gateway: { listen: "127.0.0.1:0" } });
    const run = await bench.run(["doctor", "--json"]);
    expect(run).toMatchObject({ exitCode: 0, json: { ok: true } });
    expect(existsSync(bench.stateDir)).toBe(false);
  });

  it("names every problem of a broken configuration, with its place", async () => {
    writeFileSync(bench.configFile, '{ "mcpServers": { "x": { "comand": "y" } }, "bogus": 1 }');
    const run = await bench.run(["doctor", "--json"]);
    expect(run.exitCode).toBe(2);
    const texts = problems(run).map(({ text }) => text);
    expect(
      texts.some(
        (text) => text.includes(`${bench.configFile}:1:`) && text.includes("did you mean `command`"),
      ),
    ).toBe(true);
    expect(texts.some((text) => text.includes("bogus"))).toBe(true);
  });

  it("sees modes that are too wide without changing them, a stale gateway and a program that is not there", async () => {
    bench.writeConfig({
      mcpServers: { gone: { command: "no-such-program" } },
      gateway: { listen: "127.0.0.1:0" },
    });
    await bench.run(["activity"]);
    const file = { pid: 2 ** 22 - 3, url: "http://127.0.0.1:1", adminToken: "a", mcpToken: "b" };
    writeFileSync(join(bench.stateDir, "gateway.json"), JSON.stringify(file), { mode: 0o600 });
    chmodSync(bench.stateDir, 0o755);
    const run = await bench.run(["doctor", "--json"]);
    expect(problems(run).map(({ id }) => id)).toEqual(["state.mode", "gateway", "server.gone"]);
    expect(statSync(bench.stateDir).mode & 0o777).toBe(0o755);
  });

  it("says that another program has the port", async () => {
    const other = await startLocalServer((_request, response) => void response.end("hi"));
    try {
      bench.writeConfig({ mcpServers: {}, gateway: { listen: `127.0.0.1:${other.url.port}` } });
      expect(problems(await bench.run(["doctor", "--json"])).map(({ id }) => id)).toEqual(["gateway"]);
    } finally {
      await other.close();
    }
  });

  it("opens no state that a file names which nobody trusts, and starts nothing", async () => {
    const state = join(bench.dir, "theirs");
    mkdirSync(state, { mode: 0o700 });
    writeFileSync(join(state, "state.db"), "not a database", { mode: 0o600 });
    bench.writeConfig({
      store: state,
      mcpServers: { evil: { command: "touch", args: ["started"], connect: "eager" } },
    });
    const run = await runBare(["doctor", "--json"], { cwd: bench.dir, home: bench.dir });
    expect(JSON.parse(run.stdout)).toMatchObject({
      lines: expect.arrayContaining([expect.objectContaining({ id: "state", state: "unknown" })]) as unknown,
    });
    expect(existsSync(join(bench.dir, "started"))).toBe(false);
  });
});
