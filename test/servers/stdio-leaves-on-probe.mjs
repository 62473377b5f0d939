/** A legacy server that exits on any request before `initialize`, as some do; appends a line to STARTS each time it starts. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

if (process.env.STARTS !== undefined) appendFileSync(process.env.STARTS, "start\n");
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "touchy", version: "1" },
      },
    });
  } else if (method === "server/discover") process.exit(1);
  else if (id !== undefined) send({ id, result: { content: [] } });
});
