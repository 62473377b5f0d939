/** Ten thousand calls one after another and ten thousand at once, on each transport and era, leave the client as it was. */
import { getEventListeners } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { countRunningTimers } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Client } from "../../src/client/client.ts";
import { connectHttp } from "../../src/client/connect-http.ts";
import { connectStdio } from "../../src/client/connect-stdio.ts";
import type { Era } from "../../src/protocol/revisions.ts";
import { discoverResult, initializeResult } from "../support/client-setup.ts";
import { startLocalServer } from "../support/local-http.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const options = { clientInfo: { name: "test", version: "1" } };

async function overStdio(eraHint: Era): Promise<Client> {
  const name = eraHint === "modern" ? "modern-echo.mjs" : "stdio-leaves-on-probe.mjs";
  const args = [join(import.meta.dirname, "../servers", name)];
  return connectStdio({ command: process.execPath, args, env: {}, cwd: tmpdir() }, { ...options, eraHint });
}

async function overHttp(eraHint: Era): Promise<Client> {
  const server = await startLocalServer((_request, response, body) => {
    const { id, method } = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
    if (id === undefined) return void response.writeHead(body === "" ? 405 : 202).end();
    const results: Record<string, JsonObject> = {
      "server/discover": discoverResult(),
      initialize: initializeResult(),
    };
    const result = results[method ?? ""] ?? { resultType: "complete", content: [] };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  ends.push(server.close);
  return connectHttp({ url: server.url, allowPrivateAddresses: true }, { ...options, eraHint });
}

const TIMES = 10_000;

describe.each([
  ["stdio, modern", "modern", overStdio],
  ["stdio, legacy", "legacy", overStdio],
  ["HTTP, modern", "modern", overHttp],
  ["HTTP, legacy", "legacy", overHttp],
] as const)("%s", (_name, era, connect) => {
  it(`${TIMES} calls in a row, then ${TIMES} at once`, { timeout: 120_000 }, async () => {
    const client = await connect(era);
    ends.push(() => client.close());
    expect(client.facts?.era).toBe(era);
    const { signal } = new AbortController();
    const call = (): Promise<unknown> => client.callTool("echo", { message: "x".repeat(100) }, { signal });
    const inARow = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) await call();
    };
    const atOnce = async (count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, call));
    };
    await inARow(500);
    await atOnce(500);
    const before = await heapUsed();
    await inARow(TIMES);
    expect(await heapUsed()).toBeLessThan(before + 5_000_000);
    await atOnce(TIMES);
    expect(await heapUsed()).toBeLessThan(before + 5_000_000);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(client.oddities()).toEqual({});
    await client.close();
    expect(countRunningTimers()).toBe(0);
  });
});
