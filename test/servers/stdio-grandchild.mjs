/**
 * Starts a stubborn grandchild that holds its stdout and stderr, then says its pid on stdout. The argument: `leave`: the
 * launcher itself exits at the next request; `stay`: it exits on SIGTERM; `job-control`: likewise, and the grandchild is in a
 * process group of its own within the same session.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const how = process.argv[2];
const file = fileURLToPath(new URL("stdio-stubborn.mjs", import.meta.url));
// `set -m` of a shell gives a background job its own process group.
const script = `set -m; "${process.execPath}" "${file}" & echo $!; wait`;
const child =
  how === "job-control"
    ? spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] })
    : spawn(process.execPath, [file], { stdio: ["ignore", "inherit", "inherit"] });
const say = (pid) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", method: "grandchild", params: { pid } })}\n`);
if (how === "job-control") child.stdout.once("data", (chunk) => say(Number(chunk.toString())));
else say(child.pid);
process.stdin.once("data", () => how === "leave" && process.exit(5));
