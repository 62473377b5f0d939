/** A server of 2025-11-25 whose tools want tasks or not, as their names say. What each was called with stands in LEDGER. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const done = { content: [{ type: "text", text: "done" }] };
const task = (status) => ({
  taskId: "t1",
  status,
  createdAt: "2026-01-01T00:00:00Z",
  lastUpdatedAt: "2026-01-01T00:00:00Z",
  ttl: null,
  pollInterval: 10,
});
const tool = (taskSupport) => ({
  name: taskSupport ?? "unsaid",
  inputSchema: { type: "object" },
  ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
});

function call({ name, task: asked }) {
  appendFileSync(process.env.LEDGER, `${JSON.stringify({ name, task: asked ?? null })}\n`);
  const isWrong = name === "required" ? asked === undefined : asked !== undefined;
  if (isWrong) return { error: { code: -32601, message: "tasks are not as this tool says" } };
  return { result: asked === undefined ? done : { task: task("working") } };
}

const answers = {
  initialize: () => ({
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: "tasks", version: "1" },
    },
  }),
  "tools/list": () => ({ result: { tools: ["required", "optional", "forbidden", undefined].map(tool) } }),
  "tools/call": call,
  "tasks/get": () => ({ result: task("completed") }),
  "tasks/result": () => ({ result: done }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  say({ id, ...(answer === undefined ? { error: { code: -32601, message: "unknown" } } : answer(params)) });
});
