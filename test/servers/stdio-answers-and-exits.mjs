/** Answers the first request, 2,000 notifications before it, and exits in the same tick. */
import { writeSync } from "node:fs";

process.stdin.once("data", (chunk) => {
  const { id } = JSON.parse(chunk.toString().split("\n")[0]);
  const text = `${JSON.stringify({ jsonrpc: "2.0", method: "tick" })}\n`.repeat(2_000);
  for (
    let left = Buffer.from(`${text}${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
    left.length > 0;
  ) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
  process.exit(0);
});
