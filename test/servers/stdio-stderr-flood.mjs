/** Writes 4 MiB to stderr, blocking, before every answer; with the argument `no-newline` as one line. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const block = process.argv[2] === "no-newline" ? "e".repeat(65_536) : `${"e".repeat(63)}\n`.repeat(1_024);
const writeAll = (text) => {
  for (let left = Buffer.from(text); left.length > 0;) {
    try {
      left = left.subarray(writeSync(2, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  for (let at = 0; at < 64; at += 1) writeAll(block);
  writeAll("last line\n");
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
});
