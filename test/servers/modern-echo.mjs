/** A well-behaved server of 2026-07-28 over stdio with one tool; refuses `initialize`. */
import { createInterface } from "node:readline";

const PREFIX = "io.modelcontextprotocol/";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const meta = params?._meta?.[`${PREFIX}protocolVersion`];
  if (meta !== "2026-07-28")
    return send({ id, error: { code: -32602, message: "no protocol version in _meta" } });
  const complete = (result) => send({ id, result: { resultType: "complete", ...result } });
  const cache = { ttlMs: 60_000, cacheScope: "public" };
  switch (method) {
    case "server/discover":
      return complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ...cache });
    case "tools/list":
      return complete({ tools: [{ name: "echo", inputSchema: { type: "object" } }], ...cache });
    case "tools/call":
      return complete({ content: [{ type: "text", text: String(params.arguments?.message) }] });
    default:
      return send({ id, error: { code: -32601, message: "unknown method" } });
  }
});
