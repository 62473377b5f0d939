/** Writes lines that are no JSON-RPC before every answer; echoes. */
import { createInterface } from "node:readline";

const NOISE = [
  "Welcome!",
  "",
  "   ",
  "42",
  '"text"',
  "null",
  "{}",
  '{"jsonrpc":"2.0"}',
  "\u001b[32mok\u001b[0m",
  '{"jsonrpc":"2.0","id":',
];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, params } = JSON.parse(line);
  process.stdout.write(
    `${NOISE.join("\n")}\n${JSON.stringify({ jsonrpc: "2.0", id, result: { echo: params } })}\n`,
  );
});
