// `npm run build`: the package as it is published: dist/ from src/, and the console's files beside it.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

function run(command, args, cwd = root) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

rmSync(`${root}/dist`, { recursive: true, force: true });
run("tsc", ["-p", "tsconfig.build.json"]);
run("vite", ["build", "--logLevel", "warn"], `${root}/console`);
cpSync(`${root}/console/dist`, `${root}/dist/console`, { recursive: true });
console.log("built dist/");
