/** Every command of the README's tour, as it stands there, in a clone's own folder. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileConfig } from "../../src/config/compile.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

/** Commands of the `sh` blocks between two headings; a trailing comment may name the exit code. */
function commandsOf(heading: string): { command: string; exitCode: number }[] {
  const section = readme.split(`## ${heading}`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap((block) => (block[1] ?? "").split("\n"))
    .filter((line) => line !== "")
    .map((line) => ({
      command: line.replace(/ +# .*$/, ""),
      exitCode: Number(/# exit code (\d+)/.exec(line)?.[1] ?? 0),
    }));
}

describe("the tour of the README", { timeout: 120_000 }, () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "portcullis-tour-"));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const commands = [...commandsOf("Five minutes"), ...commandsOf("From an agent in TypeScript")];

  it("has commands", () => {
    expect(commands.length).toBeGreaterThanOrEqual(7);
  });

  it.each(commands)("$command", ({ command, exitCode }) => {
    const run = spawnSync(command, {
      cwd: root,
      shell: true,
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        XDG_STATE_HOME: join(home, "state"),
        npm_config_cache: process.env["npm_config_cache"] ?? join(home, "npm"),
      },
    });
    expect([run.status, run.stderr.replaceAll(/^npm .*\n/gm, "")]).toEqual([exitCode, expect.any(String)]);
    expect(run.stdout).not.toBe("");
  });
});

describe("what the README shows", () => {
  it("the configuration compiles", () => {
    const block = /```jsonc\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
    const raw = JSON.parse(block) as object;
    const config = compileConfig(raw, {
      file: null,
      baseDir: root,
      homeDir: root,
      platform: "linux",
      stateDir: join(root, "scratch"),
    });
    expect([...config.servers.keys()]).toEqual(["github", "orders"]);
    expect(config.warnings).toEqual([]);
  });

  it("the stack table names every dependency of the package", () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8"),
    ) as Record<string, Record<string, string>>;
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  it("the two commands are npm's own, one line each", () => {
    expect(commandsOf("Two commands").map(({ command }) => command)).toEqual([
      "npm ci && npm start",
      "npm ci && npm test",
    ]);
  });
});
