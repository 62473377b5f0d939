/** A byte order mark first, then CRLF, padding and CR CR LF in turn; the answer to `last` has no line end, and it leaves. */
import { createInterface } from "node:readline";

const ENDS = ["\r\n", "\r\r\n", " \t\r\n", "\n"];
let at = 0;
process.stdout.write("\uFEFF");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { echo: params } });
  if (method === "last") process.stdout.write(answer, () => process.exit(0));
  else process.stdout.write(`${at % 2 === 0 ? "" : "  "}${answer}${ENDS[at++ % ENDS.length]}`);
});
