/** A modern server whose list may be believed for an hour, and which changes it all the same when `change` is called, and says so. */
import { createInterface } from "node:readline";

const PREFIX = "io.modelcontextprotocol/";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const CACHE = { ttlMs: 3_600_000, cacheScope: "private" };
const inputSchema = { type: "object" };
let names = ["change", "before"];
let stream;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const complete = (result) => send({ id, result: { resultType: "complete", ...result } });
  const tell = (name, more = {}) =>
    send({ method: name, params: { ...more, _meta: { [`${PREFIX}subscriptionId`]: stream } } });
  switch (method) {
    case "server/discover":
      return complete({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true } },
        ...CACHE,
      });
    case "tools/list":
      return complete({ tools: names.map((name) => ({ name, inputSchema })), ...CACHE });
    case "subscriptions/listen":
      stream = id;
      return tell("notifications/subscriptions/acknowledged", { notifications: params.notifications });
    case "tools/call":
      names = ["change", "after"];
      if (stream !== undefined) tell("notifications/tools/list_changed");
      return complete({ content: [] });
    default:
      return send({ id, error: { code: -32601, message: "unknown method" } });
  }
});
