/** The peer of the transport contract over stdio: `echo`, `burst`, `silent`, `leave`, `flood`. */
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "burst")
    for (let at = 0; at < params.count; at += 1) say({ method: "tick", params: { at } });
  if (method === "echo" || method === "burst") say({ id, result: { echo: params } });
  if (method === "leave") process.exit(7);
  if (method === "flood") say({ id, result: { text: "x".repeat(8 * 1024 * 1024) } });
});
