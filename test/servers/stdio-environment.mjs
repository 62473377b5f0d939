/** Answers with its environment, arguments and working directory. */
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const result = { env: process.env, args: process.argv.slice(2), cwd: process.cwd() };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result })}\n`);
});
