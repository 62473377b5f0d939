/**
 * Offers whatever the JSON file DEFINITIONS says, read anew for every list: `{ tools, prompts, resources, instructions }`.
 * Legacy era. Calls are answered by `ran NAME`.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const read = () => JSON.parse(readFileSync(process.env.DEFINITIONS, "utf8"));

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { tools = [], prompts = [], resources = [], instructions } = read();
  const answers = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: "definitions", version: "1" },
      ...(instructions === undefined ? {} : { instructions }),
    },
    ping: {},
    "tools/list": { tools },
    "prompts/list": { prompts },
    "resources/list": { resources },
    "resources/templates/list": { resourceTemplates: [] },
    "tools/call": { content: [{ type: "text", text: `ran ${params?.name}` }] },
  };
  const result = answers[method];
  say(result === undefined ? { id, error: { code: -32601, message: `no ${method}` } } : { id, result });
});
