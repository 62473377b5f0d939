/** What ends a command in its middle: Ctrl-C, SIGTERM, and a terminal that is closed. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const CLI = fileURLToPath(new URL("../../bin/portcullis.mjs", import.meta.url));
const isLinux = process.platform === "linux";

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: {
      ledger: bench.ledgerEntry({ source: "own", tools: { write: "L1", remove: "L2" } }),
      silent: { command: process.execPath, args: ["-e", "process.stdin.resume()"] },
    },
    gateway: { listen: "127.0.0.1:0" },
  });
});
afterEach(() => bench.remove());

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it never came to be: ${what}`);
}

const hasChildren = ({ pid = 0 }: ChildProcess): boolean =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8") !== "";

describe.runIf(isLinux)("a signal", { timeout: 60_000 }, () => {
  async function interrupt(
    child: ChildProcess,
    signal: "SIGINT" | "SIGTERM",
    moment: () => Promise<void>,
  ): Promise<void> {
    let printed = "";
    child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    const closed = once(child, "close");
    await moment();
    child.kill(signal);
    expect(await closed).toEqual([130, null]);
    expect(JSON.parse(printed)).toMatchObject({ error: { code: "cancelled" } });
  }

  it.each(["SIGINT", "SIGTERM"] as const)("%s ends the waiting for standard input", async (signal) => {
    const child = bench.start(["call", "ledger", "write", "-", "--json"]);
    // More than a pipe holds: who takes it reads.
    await interrupt(child, signal, async () => {
      await new Promise((resolve) => child.stdin?.write(" ".repeat(1_000_000), resolve));
    });
    expect(bench.sent("write")).toBe(0);
  });

  it.each([
    ["tools", "--refresh"],
    ["status", "--check"],
  ])("what could not be asked for in time is not shown as if there were none: %s", async (...words) => {
    const child = bench.start([...words, "--json"]);
    await interrupt(child, "SIGINT", async () => until("servers start", () => hasChildren(child)));
  });
});

/** Runs argv[2:] in a terminal of its own, closes the terminal when the file argv[1] holds something, prints how it ended. */
const CLOSED_TERMINAL = `
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[2], sys.argv[2:])
os.set_blocking(fd, False)
seen = b""
while sys.argv[1].encode() not in seen:
    try: seen += os.read(fd, 65536)
    except BlockingIOError: time.sleep(0.02)
os.close(fd)
print(os.waitpid(pid, 0)[1])
`;
const PYTHON = "python3";
const hasPython = isLinux && spawnSync(PYTHON, ["-c", "import pty"]).status === 0;

describe.runIf(hasPython)("a terminal that is closed", { timeout: 60_000 }, () => {
  async function closeTerminal(after: string, words: readonly string[]): Promise<number> {
    const line = [process.execPath, CLI, "--config", bench.configFile, "--state", bench.stateDir, ...words];
    const child = spawn(PYTHON, ["-c", CLOSED_TERMINAL, after, ...line], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await once(child, "close");
    return Number(printed);
  }

  it("ends the gateway in good order", async () => {
    expect(await closeTerminal("In another terminal", ["serve"])).toBe(0);
  });

  it("ends a question and its call, which stands in the record as its own process wrote it", async () => {
    await closeTerminal("[y/N]", ["call", "ledger", "remove", '{"ids":["a"]}']);
    const { calls } = (await bench.run(["activity", "--json"])).json as { calls: JsonObject[] };
    expect(calls).toMatchObject([{ tool: "remove", effect: "none" }]);
    expect(calls[0]?.["code"]).not.toBe("interrupted");
    expect(bench.sent("remove")).toBe(0);
  });
});
