/**
 * Starts a stubborn grandchild that inherits all three pipes, then says its pid on stdout. The argument says when the
 * launcher itself leaves: `leave` at the next request, `stay` on SIGTERM, `job-control` starts it in a process group of its
 * own within the same session, and leaves at the next request.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const how = process.argv[2];
const file = fileURLToPath(new URL("stdio-stubborn.mjs", import.meta.url));
// `set -m` of a shell gives a background job its own process group.
const script = `set -m; "${process.execPath}" "${file}" <&0 & echo $!; wait`;
const child =
  how === "job-control"
    ? spawn("bash", ["-c", script], { stdio: ["inherit", "pipe", "inherit"] })
    : spawn(process.execPath, [file], { stdio: "inherit" });
const say = (pid) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method: "grandchild", params: { pid } })}\n`);
if (how === "job-control") child.stdout.once("data", (chunk) => say(Number(chunk.toString())));
else say(child.pid);
if (how !== "stay") process.stdin.once("data", () => process.exit(5));
