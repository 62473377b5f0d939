import { describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { transportCases, type TransportHarness } from "../../src/transport/contract.ts";
import { createStdioTransport, type StdioTransport } from "../../src/transport/stdio.ts";
import { livingMembers } from "../support/process-group.ts";
import { ownServer } from "../support/own-server.ts";

function createHarness(): TransportHarness {
  const made: StdioTransport[] = [];
  return {
    async create() {
      const transport = createStdioTransport({
        ...ownServer("contract-peer"),
        clock: systemClock,
        limits: { messageBytes: 2 * 1024 * 1024 },
      });
      made.push(transport);
      return transport;
    },
    async dispose() {
      for (const transport of made) {
        await transport.close();
        const left = livingMembers(transport.pid);
        if (left.length > 0) throw new Error(`processes are left: ${left.join(", ")}`);
      }
    },
  };
}

describe("transport contract on stdio [STDIO-12]", () => {
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
