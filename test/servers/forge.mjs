/** A code host with tools of every kind, for proposals of grades. They do nothing. Legacy. */
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name, required, more = {}) => ({
  name,
  description: name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(required.map((property) => [property, { type: "string" }])),
    required,
  },
  ...more,
});
const tools = [
  tool("search_code", ["query"]),
  tool("create_issue", ["repo", "title"]),
  tool("close_issue", ["repo", "number"]),
  tool("reopen_issue", ["repo", "number"]),
  tool("star_repo", ["repo"]),
  tool("unstar_repo", ["repo"]),
  tool("delete_repo", ["repo"]),
  tool("send_mail", ["to", "body"]),
  tool("frobnicate", ["x"], { annotations: { readOnlyHint: true } }),
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize") {
    const serverInfo = { name: "forge", version: "1" };
    say({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") say({ id, result: { tools } });
  else if (method === "tools/call") say({ id, result: { content: [{ type: "text", text: "done" }] } });
  else if (method === "ping") say({ id, result: {} });
  else say({ id, error: { code: -32601, message: `no ${method}` } });
});
