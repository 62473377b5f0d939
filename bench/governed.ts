/** A governed call through the host: an L0 tool, everything on (validation, policy, provenance, trail, scan). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../src/base/json.ts";
import { openHost } from "../src/host/host.ts";
import { STDIO_SERVER, startHttpServer, textOf, type Connected, type Contender } from "./contender.ts";

/** More than are in flight, so that no call waits for another by our own limit. */
const CONCURRENCY = 128;

async function open(entry: JsonObject, atEnd: () => Promise<void>): Promise<Connected> {
  const stateDir = mkdtempSync(join(tmpdir(), "portcullis-bench-"));
  const server = { source: "own", tools: { "*": "L0" }, limits: { concurrency: CONCURRENCY }, ...entry };
  const host = await openHost({
    config: { mcpServers: { bench: server }, limits: { concurrency: CONCURRENCY } },
    stateDir,
  });
  const turn = host.turn();
  await turn.tools();
  return {
    async call(tool, args) {
      const outcome = await turn.call(`bench__${tool}`, { ...args });
      const text = textOf(outcome.content);
      if (typeof text !== "string")
        throw new Error(`not the answer of the bench's server: ${outcome.outcome} ${outcome.message}`);
      return text;
    },
    async close() {
      await host.close();
      await atEnd();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

export const governedStdio: Contender = {
  name: "portcullis, governed",
  transport: "stdio",
  connect: () => open({ command: process.execPath, args: [STDIO_SERVER] }, async () => undefined),
};

export const governedHttp: Contender = {
  name: "portcullis, governed",
  transport: "http",
  async connect() {
    const server = await startHttpServer();
    return open({ url: server.url.href, allowPrivateAddresses: true }, () => server.close());
  },
};
