/** Answers over stdio. A long answer leaves in pieces of 8 KiB, as a slow writer would send it. */
import { answer } from "./answers.mjs";

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
  if (out.length <= 4 * PIECE) process.stdout.write(out);
  else void writeInPieces(out);
});
process.stdin.on("end", () => process.exit());

async function writeInPieces(text) {
  for (let at = 0; at < text.length; at += PIECE) {
    if (!process.stdout.write(text.slice(at, at + PIECE)))
      await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}
