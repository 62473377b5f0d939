/** Calls from the command line that a gateway makes: each meets its own question, and none is left without an effect. */
import type { ChildProcess } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
const running: ChildProcess[] = [];

beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
    gateway: { listen: "127.0.0.1:0" },
  });
});
afterEach(async () => {
  for (const child of running.splice(0)) await end(child, "SIGKILL");
  bench.remove();
});

interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when `pattern` was printed, on either stream. */
  said(pattern: RegExp): Promise<void>;
  readonly exitCode: Promise<number | null>;
}

function start(words: readonly string[]): Started {
  const child = bench.start(words);
  running.push(child);
  let stdout = "";
  let stderr = "";
  const looks = new Set<() => void>();
  const hear = (take: (text: string) => void) => (text: string) => {
    take(text);
    for (const look of looks) look();
  };
  child.stdout?.setEncoding("utf8").on(
    "data",
    hear((text) => (stdout += text)),
  );
  child.stderr?.setEncoding("utf8").on(
    "data",
    hear((text) => (stderr += text)),
  );
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    said: (pattern) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (pattern.test(stdout) || pattern.test(stderr)) resolve();
        };
        looks.add(look);
        look();
      }),
    exitCode: new Promise((resolve) => child.once("close", resolve)),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.kill(signal);
  await closed;
}

async function serve(): Promise<ChildProcess> {
  const gateway = start(["serve", "--json"]);
  await gateway.said(/"pid"/);
  return gateway.child;
}

const write = (text: string, delayMs = 0): string => JSON.stringify({ text, delayMs });

describe("a call from the command line that a gateway makes", { timeout: 60_000 }, () => {
  it("waits for the answer to its own question, also where the same tool is asked about twice", async () => {
    await serve();
    const first = start(["call", "ledger", "write", write("first"), "--wait", "--json"]);
    await first.said(/waits for an answer/);
    const second = start(["call", "ledger", "write", write("second"), "--wait", "--json"]);
    await second.said(/waits for an answer/);
    expect(first.stderr()).not.toContain("second");
    expect(second.stderr()).not.toContain("first");
    const { approvals } = (await bench.run(["approvals", "--json"])).json as { approvals: JsonObject[] };
    for (const { id, callId, arguments: args } of approvals) {
      const { text } = args as { text: string };
      const asked = text === "first" ? first : second;
      expect(asked.stderr()).toContain(`portcullis approve ${String(id)}`);
      await bench.run(["approve", String(id), "--json"]);
      expect(await asked.exitCode).toBe(0);
      expect(JSON.parse(asked.stdout())).toMatchObject({ callId, content: [{ text: `wrote ${text}` }] });
    }
  });

  it("after kill -9 of the gateway: sent and not answered is unknown, with the id and where to look", async () => {
    const gateway = await serve();
    const call = start(["call", "ledger", "write", write("a", 600_000), "--yes", "--json"]);
    while (bench.sent("write") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await end(gateway, "SIGKILL");
    expect(await call.exitCode).toBe(5);
    const outcome = JSON.parse(call.stdout()) as JsonObject;
    expect(outcome).toMatchObject({
      server: "ledger",
      tool: "write",
      grade: "L2",
      outcome: "unavailable",
      code: "connection_lost",
      effect: "unknown",
    });
    const { callId } = outcome;
    expect(outcome["message"]).toContain(`portcullis activity ${String(callId)}`);
    const { calls } = (await bench.run(["activity", String(callId), "--json"])).json as {
      calls: JsonObject[];
    };
    expect(calls).toMatchObject([{ callId, tool: "write", effect: "unknown" }]);
  });

  it("after kill -9 of the gateway: what still waited for a person was not done", async () => {
    const gateway = await serve();
    const call = start(["call", "ledger", "write", write("a"), "--wait", "--json"]);
    await call.said(/waits for an answer/);
    await end(gateway, "SIGKILL");
    expect(await call.exitCode).toBe(5);
    expect(JSON.parse(call.stdout())).toMatchObject({ code: "connection_lost", effect: "none", grade: "L2" });
    expect(bench.sent("write")).toBe(0);
  });

  it("after Ctrl-C: that is said, the gateway ends the call, and its record says what it did [CAN-12]", async () => {
    await serve();
    const call = start(["call", "ledger", "write", write("a", 600_000), "--yes", "--json"]);
    while (bench.sent("write") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    call.child.kill("SIGINT");
    await call.said(/stopping/);
    expect(await call.exitCode).toBe(130);
    expect(JSON.parse(call.stdout())).toMatchObject({
      outcome: "cancelled",
      code: "cancelled",
      effect: "unknown",
      grade: "L2",
    });
  });
});

it("the same call is not made twice under one id", { timeout: 60_000 }, async () => {
  await serve();
  const { json } = await bench.run(["call", "ledger", "write", write("a"), "--yes", "--json"]);
  const { readGatewayFile } = await import("../../src/operations/gateway-file.ts");
  const file = readGatewayFile(bench.stateDir);
  const again = await fetch(new URL("/api/operations/call-tool", file?.url), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${file?.adminToken ?? ""}` },
    body: JSON.stringify({ server: "ledger", tool: "read", callId: json["callId"] }),
  });
  expect(again.status).toBe(400);
  expect(bench.sent("write") + bench.sent("read")).toBe(1);
});
