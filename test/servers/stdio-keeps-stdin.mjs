/** A modern server that writes everything it reads, byte for byte, to the file named in KEEP; it agrees to listen and never ends a call to `wait`. */
import { appendFileSync } from "node:fs";

const PREFIX = "io.modelcontextprotocol/";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tell = (method, subscriptionId, more = {}) =>
  send({ method, params: { ...more, _meta: { [`${PREFIX}subscriptionId`]: subscriptionId } } });
const CACHE = { ttlMs: 0, cacheScope: "private" };
const CAPABILITIES = { tools: { listChanged: true }, prompts: { listChanged: true } };
let rest = "";

process.stdin.setEncoding("utf8").on("data", (chunk) => {
  appendFileSync(process.env.KEEP, chunk);
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});

function answer({ id, method, params }) {
  if (id === undefined) return;
  const complete = (result) => send({ id, result: { resultType: "complete", ...result } });
  switch (method) {
    case "server/discover":
      return complete({ supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES, ...CACHE });
    case "tools/list":
      return complete({ tools: [], ...CACHE });
    case "subscriptions/listen":
      tell("notifications/subscriptions/acknowledged", id, { notifications: params.notifications });
      tell("notifications/tools/list_changed", id);
      // Of a stream that does not exist: nobody may hear it.
      return tell("notifications/prompts/list_changed", `not ${id}`);
    case "tools/call":
      return params.name === "wait" ? undefined : complete({ content: [] });
    default:
      return send({ id, error: { code: -32601, message: "unknown method" } });
  }
}
