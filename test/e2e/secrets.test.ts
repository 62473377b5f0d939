import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const SECRET = "hunter2-Xq7vT9zLw3Rk8Pn5";

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.remove());

function everyFile(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString("latin1"));
}

describe("a secret given through env", { timeout: 90_000 }, () => {
  it("appears in no file under the state directory, no output, no error", async () => {
    const entry = bench.ledgerEntry({ env: { LEDGER_TOKEN: "${env:LEDGER_TOKEN}" } });
    bench.writeConfig({
      mcpServers: {
        ledger: entry,
        broken: {
          command: process.execPath,
          args: ["-e", "console.error(process.env.T); process.exit(3)"],
          env: { T: "${env:LEDGER_TOKEN}" },
        },
      },
    });
    const env = { LEDGER_TOKEN: SECRET };
    const said: string[] = [];
    for (const words of [
      ["call", "ledger", "write", `{"text":"with ${SECRET} inside"}`, "--yes", "--json"],
      ["call", "ledger", "env", "--yes", "--json"],
      ["call", "broken", "x", "--yes", "--json"],
      ["status", "--check", "--json"],
      ["tools", "--json"],
      ["activity", "--json"],
      ["audit", "--json"],
    ]) {
      const run = await bench.run(words, { env });
      said.push(run.stdout, run.stderr);
    }
    expect(bench.sent("write")).toBe(1);
    expect(bench.ledger().find((line) => line.tool === "write")?.args).toEqual({
      text: `with ${SECRET} inside`,
    });
    const files = everyFile(bench.stateDir);
    expect(files.length).toBeGreaterThan(0);
    for (const form of [
      SECRET,
      Buffer.from(SECRET).toString("base64").slice(0, 28),
      Buffer.from(SECRET).toString("hex"),
    ]) {
      expect(files.filter((text) => text.includes(form))).toEqual([]);
      expect(said.filter((text) => text.includes(form))).toEqual([]);
    }
  });

  it("and the child sees only the allowed environment", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { env: "L0" } }) } });
    const run = await bench.run(["call", "ledger", "env", "--json"], {
      env: { FAKE_API_KEY: "x", GITHUB_TOKEN: "y", NODE_OPTIONS: "--no-warnings", LANG: "C.UTF-8" },
    });
    const names = (run.json["content"] as { text: string }[])[0]?.text.split(" ") ?? [];
    expect(names).toContain("PATH");
    expect(names).toContain("LEDGER");
    expect(names).not.toContain("FAKE_API_KEY");
    expect(names).not.toContain("GITHUB_TOKEN");
    expect(names).not.toContain("NODE_OPTIONS");
  });
});
