/** Answers over stdio. A long answer leaves in pieces of 8 KiB, as a slow writer would send it. */
import { appendFileSync } from "node:fs";
import { answer } from "./answers.mjs";

// Who wants to know whether it was started.
if (process.env.BENCH_STARTED) appendFileSync(process.env.BENCH_STARTED, "started\n");

const PIECE = 8 * 1024;
let rest = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    const text = answer(JSON.parse(line));
    if (text !== undefined) out += `${text}\n`;
  }
  if (lines.length > 1) process.stdout.write(out);
  else for (let at = 0; at < out.length; at += PIECE) process.stdout.write(out.slice(at, at + PIECE));
});
process.stdin.on("end", () => process.exit());
