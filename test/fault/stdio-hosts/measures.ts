/**
 * A host that measures itself: opens the server named by the first argument, sends one request with the params of the second,
 * and writes as JSON what it cost: `{ end, cpuMs, longestTurnMs, growthBytes }`.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/base/clock.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { createStdioTransport } from "../../../src/transport/stdio.ts";
import { nodeScript } from "../../support/own-server.ts";

const [file = "", params = "{}", env = "{}"] = process.argv.slice(2);
const transport = createStdioTransport({
  ...nodeScript(file, [], JSON.parse(env) as Record<string, string>),
  clock: systemClock,
});
// The start of this process is not part of what is measured.
await sleep(300);
const baseline = process.memoryUsage.rss();
const ended = Promise.withResolvers<string>();
await transport.open(
  {
    message: (message) => ended.resolve("method" in message ? message.method : "answer"),
    requestFailed: (_id, error) => ended.resolve(error.code),
    closed: (error) => ended.resolve(error?.code ?? "closed"),
    odd: () => undefined,
  },
  new AbortController().signal,
);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const before = process.cpuUsage();
// It may be over already: a server can misbehave before it is asked anything.
await transport
  .send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: JSON.parse(params) as JsonObject }, {})
  .catch(() => undefined);
const end = await ended.promise;
const { user, system } = process.cpuUsage(before);
delay.disable();
await transport.close();
const peak = process.resourceUsage().maxRSS * 1_024;
const longestTurnMs = Math.round(delay.max / 1e6);
console.log(
  JSON.stringify({ end, cpuMs: (user + system) / 1_000, longestTurnMs, growthBytes: peak - baseline }),
);
