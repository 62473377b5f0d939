// `npm start`: the gateway and the console on three real servers, with everything they need made first. Loopback only.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

function newest(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((latest, entry) => Math.max(latest, statSync(`${entry.parentPath}/${entry.name}`).mtimeMs), 0);
}

mkdirSync(`${root}/demo/files`, { recursive: true });
const sample = `${root}/demo/files/hello.txt`;
if (!existsSync(sample)) writeFileSync(sample, "Hello from the demo's scratch folder.\n");

const built = `${root}/console/dist/index.html`;
if (!existsSync(built) || statSync(built).mtimeMs < newest(`${root}/console/src`)) {
  console.error("building the console …");
  const { status } = spawnSync("vite", ["build", "--logLevel", "warn"], {
    cwd: `${root}/console`,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}

const words = ["bin/portcullis.mjs", "--config", "demo/portcullis.json", "serve", ...process.argv.slice(2)];
const gateway = spawn(process.execPath, words, { cwd: root, stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => gateway.kill(signal));
gateway.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
