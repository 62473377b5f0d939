import { describe, it } from "vitest";
import { transportCases, type TransportHarness } from "../../src/transport/contract.ts";
import { createMemoryTransportPair } from "../../src/transport/memory.ts";
import type { Transport } from "../../src/transport/transport.ts";

/** Obeys the methods of the contract at the other end of the pair. */
async function servePeer(peer: Transport): Promise<void> {
  const say = (message: object): void => {
    void peer.send({ jsonrpc: "2.0", ...message } as never, {}).catch(() => undefined);
  };
  await peer.open(
    {
      message(message) {
        if (!("method" in message) || !("id" in message)) return;
        const { id, method, params } = message;
        const count = method === "burst" ? Number(params?.["count"]) : 0;
        for (let at = 0; at < count; at += 1) say({ method: "tick", params: { at } });
        if (method === "echo" || method === "burst") say({ id, result: { echo: params } });
        if (method === "leave") void peer.close();
        if (method === "flood") say({ id, result: { text: "x".repeat(8 * 1024 * 1024) } });
      },
      requestFailed: () => undefined,
      closed: () => undefined,
      odd: () => undefined,
    },
    new AbortController().signal,
  );
}

function createHarness(): TransportHarness {
  const made: Transport[] = [];
  return {
    async create() {
      const [client, server] = createMemoryTransportPair({ messageBytes: 2 * 1024 * 1024 });
      made.push(client, server);
      await servePeer(server);
      return client;
    },
    async dispose() {
      for (const transport of made) await transport.close();
    },
  };
}

describe("transport contract in one process", () => {
  for (const { name, run } of transportCases) {
    it(name, async () => {
      const harness = createHarness();
      try {
        await run(harness);
      } finally {
        await harness.dispose();
      }
    });
  }
});
