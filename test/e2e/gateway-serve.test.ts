/** `portcullis serve` as a process: found by the commands, refused twice, reloaded, stopped. */
import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { findGateway, gatewayFilePath, readGatewayFile } from "../../src/operations/gateway-file.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
const running: Served[] = [];

beforeEach(() => {
  bench = createWorkbench();
});
afterEach(async () => {
  for (const served of running.splice(0)) await served.end("SIGKILL");
  bench.remove();
});

interface Served {
  readonly child: ChildProcess;
  readonly document: {
    readonly url: string;
    readonly pid: number;
    readonly console: string;
    readonly mcp: JsonObject;
  };
  stderr(): string;
  /** Resolves when standard error holds `text`. */
  said(text: string): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

function configure(more: JsonObject = {}, gateway: JsonObject = { listen: "127.0.0.1:0" }): void {
  bench.writeConfig({
    mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" }, ...more }) },
    gateway,
  });
}

async function serve(): Promise<Served> {
  const child = bench.start(["serve", "--json"]);
  let stdout = "";
  let stderr = "";
  const heard = new Set<() => void>();
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of heard) listener();
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const document = await new Promise<Served["document"]>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.endsWith("}\n")) resolve(JSON.parse(stdout) as Served["document"]);
    });
    void exited.then((code) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
  });
  const served: Served = {
    child,
    document,
    stderr: () => stderr,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!stderr.includes(text)) return;
          heard.delete(look);
          resolve();
        };
        heard.add(look);
        look();
        void exited.then(() => reject(new Error(`serve ended without saying ${text}: ${stderr}`)));
      }),
    async end(signal) {
      child.kill(signal);
      return exited;
    },
  };
  running.push(served);
  return served;
}

const post = async ({ document }: Served, name: string, args: JsonObject = {}): Promise<Response> => {
  const { url, headers } = document.mcp as { url: string; headers: Record<string, string> };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      connection: "close",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args, _meta: meta },
    }),
  });
};

describe("portcullis serve", { timeout: 60_000 }, () => {
  it("prints what to do next, and serves what it prints", async () => {
    configure();
    const served = await serve();
    expect(served.document).toMatchObject({ pid: served.child.pid, mcp: { type: "http" } });
    expect(served.document.console).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
    const answer = (await (await post(served, "ledger__read", { text: "a" })).json()) as {
      result: { content: JsonObject[] };
    };
    expect(answer.result.content[0]?.["text"]).toContain("read a");
  });

  it("without --json tells a person: the console's link, an entry for clients, what to type next", async () => {
    configure();
    const child = bench.start(["serve"]);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const told = new Promise<void>((resolve) => {
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
        if (stderr.includes("waits for an answer")) resolve();
      });
    });
    await told;
    expect(stderr).toMatch(/Console +http:\/\/127\.0\.0\.1:\d+\/#token=/);
    expect(stderr).toContain('"mcpServers":{"portcullis":{"type":"http"');
    expect(stderr).toContain(`npx portcullis --config ${bench.configFile} --state ${bench.stateDir} tools`);
    expect(stdout).toBe("");

    const second = await bench.run(["serve"]);
    expect(second.exitCode).toBe(2);
    const [link] = /http:\S+#token=\S+/.exec(stderr) ?? [];
    expect(second.stderr).toContain(link);

    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    child.kill("SIGINT");
    expect(await closed).toBe(0);
  });

  it("one Ctrl-C that arrives twice, as npm passes it on, ends it in good order", async () => {
    configure();
    const served = await serve();
    await bench.run(["call", "ledger", "read", '{"text":"a"}', "--json"]);
    served.child.kill("SIGINT");
    const closed = served.end("SIGINT");
    expect(await closed).toBe(0);
    expect(readGatewayFile(bench.stateDir)?.pid).toBeNull();
  });

  it("commands on the same state hand their work to it: one copy of each server", async () => {
    configure();
    await serve();
    for (const text of ["one", "two"]) {
      const run = await bench.run(["call", "ledger", "read", JSON.stringify({ text }), "--json"]);
      expect(run.json).toMatchObject({ outcome: "completed" });
    }
    const pids = new Set(bench.ledger().map((line) => line.pid));
    expect(pids.size).toBe(1);
    const yes = await bench.run(["call", "ledger", "write", '{"text":"b"}', "--yes", "--json"]);
    expect(yes.json).toMatchObject({ outcome: "completed", grade: "L2" });
    expect((await bench.run(["status", "--json"])).json).toMatchObject({
      servers: [{ name: "ledger", state: "ready" }],
    });
  });

  it("does not answer for another configuration on its state", async () => {
    configure();
    await serve();
    const other = join(bench.dir, "other.json");
    writeFileSync(other, JSON.stringify({ mcpServers: {} }));
    const run = await bench.run(["--config", other, "call", "ledger", "read", "--json"]);
    expect(run.exitCode).toBe(2);
    expect(run.json).toMatchObject({ error: { code: "usage", message: expect.stringContaining(other) } });
  });

  it("a second one on the same state is refused and named", async () => {
    configure();
    const first = await serve();
    const second = await bench.run(["serve", "--json"]);
    expect(second.exitCode).toBe(2);
    expect(second.json).toMatchObject({ error: { code: "gateway_running" } });
    expect(second.stderr).toContain(first.document.url);
  });

  it("after kill -9 the next one starts, with the tokens that agents know", async () => {
    configure();
    const first = await serve();
    await first.end("SIGKILL");
    expect(readGatewayFile(bench.stateDir)?.pid).toBe(first.document.pid);
    // Its process id may belong to anybody by now: here to this very test.
    const file = JSON.parse(readFileSync(gatewayFilePath(bench.stateDir), "utf8")) as JsonObject;
    writeFileSync(gatewayFilePath(bench.stateDir), JSON.stringify({ ...file, pid: process.pid }), {
      mode: 0o600,
    });
    const second = await serve();
    expect(second.document.mcp["headers"]).toEqual(first.document.mcp["headers"]);
  });

  it("a port that is taken is a usage error, not a crash", async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
    const address = blocker.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    configure({}, { listen: `127.0.0.1:${port}` });
    const run = await bench.run(["serve", "--json"]);
    expect(run.exitCode).toBe(2);
    expect(run.json).toMatchObject({ error: { code: "address_in_use" } });
    await new Promise((resolve) => blocker.close(resolve));
  });

  it("SIGTERM ends it within 5 s, says what was cut off, and tells the waiting agent", async () => {
    configure({ tools: { read: "L0", write: "L1" } });
    const served = await serve();
    const call = post(served, "ledger__write", { text: "late", delayMs: 60_000 });
    while (bench.sent("write") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const startedMs = performance.now();
    expect(await served.end("SIGTERM")).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(served.stderr()).toContain("cut off");
    expect(findGateway(bench.stateDir)).toBeUndefined();
    const answer = (await (await call).text()) as string;
    expect(answer).toContain("interrupted");
    expect(answer).toContain("unknown");
  });

  it("takes over a changed file, keeps what it has where the file is broken, and looks again on SIGHUP", async () => {
    configure();
    const served = await serve();
    configure({ tools: { read: "off" } });
    await served.said("the configuration was taken over");
    expect(await (await post(served, "ledger__read", { text: "x" })).text()).toContain("tool_off");
    writeFileSync(bench.configFile, "{ broken");
    await served.said("the configuration stays as it was");
    expect(await (await post(served, "ledger__read", { text: "x" })).text()).toContain("tool_off");
    configure({ tools: { read: "L0" } });
    served.child.kill("SIGHUP");
    while (!(await (await post(served, "ledger__read", { text: "y" })).text()).includes("read y")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});

describe("the log of `portcullis serve`", { timeout: 60_000 }, () => {
  it("holds what `log` asks for: calls as JSON, without what they were about", async () => {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
      gateway: { listen: "127.0.0.1:0" },
      log: { level: "debug", format: "json" },
    });
    const served = await serve();
    await (await post(served, "ledger__read", { text: "my-diary" })).text();
    await served.said('"event":"call.closed"');
    const lines = served.stderr().split("\n");
    const closed = JSON.parse(lines.find((line) => line.includes('"call.closed"')) ?? "{}") as JsonObject;
    expect(closed).toMatchObject({ level: "debug", server: "ledger", tool: "read", outcome: "completed" });
    expect(served.stderr()).toContain("ledger: connecting → ready");
    expect(served.stderr()).not.toContain("my-diary");
  });

  it("says nothing of single calls by default", async () => {
    configure();
    const served = await serve();
    await (await post(served, "ledger__read", { text: "x" })).text();
    await served.said("ledger: connecting → ready");
    expect(served.stderr()).not.toMatch(/call \S+ of/);
  });
});

describe("portcullis serve --stdio", { timeout: 60_000 }, () => {
  it("writes nothing but messages, answers both eras on one pipe, and ends with its input", async () => {
    configure();
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const lines = [
      { jsonrpc: "2.0", id: "d", method: "server/discover", params: { _meta: meta } },
      { jsonrpc: "2.0", id: "early", method: "tools/list" },
      {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "raw", version: "1" },
        },
      },
      "this is no message",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "ledger__read", arguments: { text: "old" } },
      },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "ledger__read", arguments: { text: "new" }, _meta: meta },
      },
    ];
    const stdin = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    const run = await bench.run(["serve", "--stdio"], { stdin });
    expect(run.exitCode).toBe(0);
    const messages = run.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonObject);
    const byId = new Map(messages.map((message) => [message["id"], message]));
    expect(byId.get("d")).toMatchObject({ result: { resultType: "complete" } });
    expect(byId.get("early")).toMatchObject({ error: { code: -32602 } });
    expect(byId.get(0)).toMatchObject({
      result: { protocolVersion: "2025-06-18", serverInfo: { name: "portcullis" } },
    });
    expect(byId.get(null)).toMatchObject({ error: { code: -32700 } });
    expect(JSON.stringify(byId.get(1))).toContain("read old");
    expect(byId.get(1)).not.toHaveProperty("result.resultType");
    expect(JSON.stringify(byId.get(2))).toContain("read new");
    expect(byId.get(2)).toMatchObject({ result: { resultType: "complete" } });
    expect(messages).toHaveLength(6);
  });

  it("a call whose peer is gone is taken back", async () => {
    configure({ tools: { read: "L0", write: "L1" } });
    const child = bench.start(["serve", "--stdio"]);
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    const initialize = {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    };
    const params = { name: "ledger__write", arguments: { text: "x", delayMs: 600_000 } };
    child.stdin?.write(`${JSON.stringify(initialize)}\n`);
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    while (bench.sent("write") === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    child.stdin?.end();
    expect(await closed).toBe(0);
    const { calls } = (await bench.run(["activity", "--json"])).json as { calls: JsonObject[] };
    expect(calls[0]).toMatchObject({ tool: "write", outcome: "cancelled", effect: "unknown" });
  });
});
