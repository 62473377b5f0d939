/** Answers `deep` with a result nested 200,000 levels deep, and everything else as usual. */
import { createInterface } from "node:readline";

const LEVELS = 200_000;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const value = method === "deep" ? "[".repeat(LEVELS) + "]".repeat(LEVELS) : "[]";
  process.stdout.write(`{"result":{"value":${value}},"id":${JSON.stringify(id)},"jsonrpc":"2.0"}\n`);
});
