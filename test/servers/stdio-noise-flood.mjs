/** Writes 100,000 lines of noise in answer to a request, then the answer. */
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  process.stdout.write(
    `${"debug: still here\n".repeat(100_000)}${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`,
  );
});
