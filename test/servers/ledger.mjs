/**
 * A server that writes down every call it gets, so that a test can see what was really sent: one JSON line per call in
 * LEDGER. Legacy era. Tools: `write` (waits `delayMs`), `read`, `remove`, `fail`, `env` (names of its environment).
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const object = (properties, required = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const tools = [
  {
    name: "write",
    description: "Writes a line.",
    inputSchema: object({ text: { type: "string" }, delayMs: { type: "integer", minimum: 0 } }, ["text"]),
  },
  { name: "read", description: "Reads.", inputSchema: object({ text: { type: "string" } }) },
  {
    name: "remove",
    description: "Removes all of ids.",
    inputSchema: object({ ids: { type: "array", items: { type: "string" } } }, ["ids"]),
  },
  { name: "fail", description: "Reports an error of its own.", inputSchema: object({}) },
  { name: "env", description: "Names of its environment.", inputSchema: object({}) },
];

const record = (line) => {
  if (process.env.LEDGER !== undefined) appendFileSync(process.env.LEDGER, `${JSON.stringify(line)}\n`);
};

async function call(name, args) {
  record({ tool: name, args, pid: process.pid });
  switch (name) {
    case "write":
      await new Promise((resolve) => setTimeout(resolve, args.delayMs ?? 0));
      record({ done: name });
      return text(`wrote ${args.text}`);
    case "fail":
      return { ...text("the disk is on fire"), isError: true };
    case "env":
      return text(Object.keys(process.env).sort().join(" "));
    case "remove":
      return text(`removed ${args.ids.join(",")}`);
    default:
      return text(`read ${args.text ?? ""}`);
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize") {
    say({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "ledger", version: "1" },
      },
    });
  } else if (method === "tools/list") say({ id, result: { tools } });
  else if (method === "tools/call") say({ id, result: await call(params.name, params.arguments ?? {}) });
  else if (method === "ping") say({ id, result: {} });
  else say({ id, error: { code: -32601, message: `no ${method}` } });
});
