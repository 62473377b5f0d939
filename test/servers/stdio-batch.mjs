/** Answers in a JSON-RPC batch, with two elements in it that are no messages. */
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  const tick = { jsonrpc: "2.0", method: "tick", params: {} };
  process.stdout.write(`${JSON.stringify([tick, 42, [tick], { jsonrpc: "2.0", id, result: {} }])}\n`);
});
