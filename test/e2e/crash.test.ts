import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
const children: ChildProcess[] = [];

beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0", write: "L2" } }) },
  });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  bench.remove();
});

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    if (await isSo()) return;
    await sleep(50);
  }
  throw new Error(`it never came to be: ${what}`);
}

function start(words: readonly string[]): ChildProcess {
  const child = bench.start(words);
  children.push(child);
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
}

interface Call {
  tool: string;
  outcome: string;
  effect: string;
  grade: string;
}

const calls = async (): Promise<Call[]> =>
  (await bench.run(["activity", "--json"])).json["calls"] as unknown as Call[];

describe("kill -9", { timeout: 90_000 }, () => {
  it("during a running L2 call: listed with effect unknown, sent once, and a living process is not disturbed", async () => {
    const dying = start(["call", "ledger", "write", '{"text":"doomed","delayMs":60000}', "--yes", "--json"]);
    await until("the first call arrived", () => bench.sent("write") === 1);
    const living = start(["call", "ledger", "write", '{"text":"living","delayMs":4000}', "--yes", "--json"]);
    let living_ = "";
    living.stdout?.on("data", (text: Buffer) => (living_ += text.toString()));
    const ended = new Promise((resolve) => living.once("close", resolve));
    await until("the second call arrived", () => bench.sent("write") === 2);
    await killed(dying);
    const listed = await calls();
    expect(listed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool: "write", effect: "unknown", outcome: "cancelled", grade: "L2" }),
      ]),
    );
    expect(listed.filter((call) => call.outcome === "running")).toHaveLength(1);
    expect(await ended).toBe(0);
    expect(JSON.parse(living_)).toMatchObject({ outcome: "completed", effect: "applied" });
    expect(bench.sent("write")).toBe(2);
    expect((await bench.run(["audit", "--json"])).json).toMatchObject({ ok: true });
  });

  it("while it waits for approval: refused, effect none, nothing sent", async () => {
    const dying = start(["call", "ledger", "write", '{"text":"never"}', "--wait", "--json"]);
    await until("the question waits", async () => {
      const { json } = await bench.run(["approvals", "--json"]);
      return (json["approvals"] as unknown[]).length === 1;
    });
    await killed(dying);
    expect(await calls()).toEqual([
      expect.objectContaining({ tool: "write", outcome: "refused", effect: "none" }),
    ]);
    expect(bench.sent("write")).toBe(0);
  });

  it("its server does not outlive it: the next start ends what is left", async () => {
    const dying = start(["call", "ledger", "write", '{"text":"doomed","delayMs":60000}', "--yes"]);
    await until("the call arrived", () => bench.sent("write") === 1);
    const pid = bench.ledger().find((line) => line.tool === "write")?.pid;
    if (pid === undefined) throw new Error("the server did not say its pid");
    await killed(dying);
    await bench.run(["activity"]);
    await until("the server is gone", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});

describe("the inbox", { timeout: 90_000 }, () => {
  it("another process approves, the waiting call goes on; another denies, the reason reaches the model", async () => {
    for (const [verb, outcome] of [
      [["approve"], "completed"],
      [["deny", "--reason", "not on a Friday"], "refused"],
    ] as const) {
      const waiting = start(["call", "ledger", "write", `{"text":"${outcome}"}`, "--wait", "--json"]);
      let printed = "";
      waiting.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
      const ended = new Promise((resolve) => waiting.once("close", resolve));
      let id = "";
      await until("the question waits", async () => {
        const { json } = await bench.run(["approvals", "--json"]);
        const [first] = json["approvals"] as unknown as { id: string; sentence: string; expiresAt: number }[];
        id = first?.id ?? "";
        return id !== "";
      });
      const [command, ...rest] = verb;
      expect((await bench.run([command, id, ...rest])).exitCode).toBe(0);
      expect(await ended).toBe(outcome === "completed" ? 0 : 3);
      const document = JSON.parse(printed) as { outcome: string; model: string };
      expect(document.outcome).toBe(outcome);
      if (outcome === "refused") expect(document.model).toContain("not on a Friday");
    }
    expect(bench.sent("write")).toBe(1);
    expect((await bench.run(["approve", "0123456789"])).exitCode).toBe(2);
  });
});
