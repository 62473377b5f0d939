/** Writes half an answer to the first request and exits with code 0. */
import { writeSync } from "node:fs";

process.stdin.once("data", () => {
  writeSync(1, '{"jsonrpc":"2.0","id":1,"resu');
  process.exit(0);
});
