// `npm run check`: format, lint with the layer rules, types, dead code. Each prints what is wrong; all are run.
import { spawnSync } from "node:child_process";

const steps = [
  ["format", "oxfmt", ["--check", "."]],
  ["lint", "oxlint", ["--type-aware", "--deny-warnings", "."]],
  ["types", "tsc", ["-p", "."]],
  ["types of the console", "tsc", ["-p", "console"]],
  ["dead code", "knip", []],
];

let failed = 0;
for (const [title, command, args] of steps) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${title}`);
  if (status !== 0) {
    failed += 1;
    console.log(stdout + stderr);
  }
}
process.exit(failed === 0 ? 0 : 1);
