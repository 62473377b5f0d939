/** Answers with `params.bytes` of text, written in pieces of `params.pieceBytes`. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const writeAll = (bytes) => {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, params } = JSON.parse(line);
  const answer = Buffer.from(
    `${JSON.stringify({ jsonrpc: "2.0", id, result: { text: "x".repeat(params.bytes) } })}\n`,
  );
  for (let at = 0; at < answer.length; at += params.pieceBytes)
    writeAll(answer.subarray(at, at + params.pieceBytes));
});
