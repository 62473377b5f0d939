/**
 * A host that measures itself: opens the server named by the first argument with the others as its arguments, sends one request that
 * is never answered, waits, and writes as JSON what that cost: `{ cpuMs, forMs, bytes }`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/base/clock.ts";
import { createStdioTransport } from "../../../src/transport/stdio.ts";
import { nodeScript } from "../../support/own-server.ts";

const FOR_MS = 2_000;
const [file = "", ...args] = process.argv.slice(2);
const transport = createStdioTransport({ ...nodeScript(file, args), clock: systemClock });
await transport.open(
  {
    message: () => undefined,
    requestFailed: () => undefined,
    closed: () => undefined,
    odd: () => undefined,
  },
  new AbortController().signal,
);
const sent = transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call" }, {});
const before = process.cpuUsage();
const startedMs = performance.now();
await Promise.all([sent, sleep(FOR_MS)]);
const { user, system } = process.cpuUsage(before);
const forMs = performance.now() - startedMs;
const counts = transport.counts();
const bytes = (counts?.lines.bytes ?? 0) + (counts?.stderrBytes ?? 0);
await transport.close();
console.log(JSON.stringify({ cpuMs: (user + system) / 1_000, forMs, bytes }));
