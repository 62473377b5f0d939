// `npm start`: the gateway and the console on three real servers, with everything they need made first. Loopback only.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync, readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
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
void sayWhatToTry();
gateway.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));

/** Once the gateway answers: a call that works as it stands. */
async function sayWhatToTry() {
  for (let look = 0; look < 100 && gateway.exitCode === null; look += 1) {
    const answer = await fetch("http://127.0.0.1:7420/api/hello").catch(() => undefined);
    await delay(200);
    if (answer?.ok !== true || gateway.exitCode !== null) continue;
    const call = `call files read_text_file '{"path":"hello.txt"}'`;
    console.error(`          npx portcullis --config demo/portcullis.json ${call}`);
    return;
  }
}
