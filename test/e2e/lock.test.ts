import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { startNpmRegistry, type NpmRegistry } from "../support/npm-registry.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createWorkbench, type CliRun, type Workbench } from "../support/workbench.ts";

const LEDGER = readFileSync(fileURLToPath(new URL("../servers/ledger.mjs", import.meta.url)), "utf8");
const TIMEOUT = { timeout: 120_000 };

let bench: Workbench;
let registry: NpmRegistry;

beforeEach(async () => {
  bench = createWorkbench();
  registry = await startNpmRegistry();
  registry.publish(
    { name: "one-word", version: "1.0.3", type: "module" },
    { "index.js": "export default 1;" },
  );
  publishNotes("2.1.0");
});
afterEach(async () => {
  await registry.close();
  bench.remove();
});

function publishNotes(version: string, more: JsonObject = {}, files: Record<string, string> = {}): void {
  const ran = join(bench.dir, "a-script-ran");
  registry.publish(
    {
      name: "@acme/notes",
      version,
      type: "module",
      bin: { notes: "server.mjs" },
      dependencies: { "one-word": "^1.0.0" },
      scripts: { postinstall: `touch ${ran}` },
      ...more,
    },
    { "server.mjs": `#!/usr/bin/env node\nimport "one-word";\n${LEDGER}`, ...files },
  );
}

function writeConfig(args: readonly string[], more: JsonObject = {}): void {
  const entry = bench.ledgerEntry({
    command: "npx",
    args: [...args],
    source: "audited",
    tools: { read: "L0" },
    ...more,
  });
  const text = JSON.stringify({ mcpServers: { notes: entry } }, null, 2);
  writeFileSync(bench.configFile, `// mine\n${text}\n`);
}

const env = (): Record<string, string> => ({
  npm_config_registry: registry.url,
  npm_config_cache: join(bench.dir, "npm-cache"),
});
const run = (...words: string[]): Promise<CliRun> => bench.run(words, { env: env() });
let calls = 0;
/** Each time other arguments, so that no earlier answer is given in its place. */
const callRead = (): Promise<CliRun> => run("call", "notes", "read", `{"text":"${(calls += 1)}"}`, "--json");
const trees = (): string[] => readdirSync(join(bench.stateDir, "packages", "notes"));

describe("portcullis lock", TIMEOUT, () => {
  it("installs the exact version without scripts, writes it into the entry, and starts it from there", async () => {
    writeConfig(["-y", "@acme/notes", "--flag"]);
    const before = readFileSync(bench.configFile, "utf8");
    const blocked = await callRead();
    expect(blocked.exitCode).toBe(5);
    expect(blocked.json["message"]).toContain("run `portcullis lock notes`");
    expect(registry.asked).toEqual([]);

    const locked = await run("lock", "notes", "--json");
    expect(locked).toMatchObject({ exitCode: 0 });
    expect(locked.json).toMatchObject({
      server: "notes",
      package: "@acme/notes",
      version: "2.1.0",
      packages: 2,
      scriptsNotRun: ["@acme/notes"],
      hasChangedConfig: true,
      forgotten: false,
    });
    expect(locked.json["integrity"]).toMatch(/^sha512-/);
    expect(readFileSync(bench.configFile, "utf8")).toBe(
      before.replace('"@acme/notes"', '"@acme/notes@2.1.0"'),
    );
    expect(existsSync(join(bench.dir, "a-script-ran"))).toBe(false);

    await registry.close();
    const called = await callRead();
    expect(called).toMatchObject({ exitCode: 0, json: { outcome: "completed" } });
    expect(bench.sent("read")).toBe(1);
    const records = await run("audit", "--json");
    expect(records.exitCode).toBe(0);
  });

  it("keeps the integrity of every package, and the hash of every file", async () => {
    writeConfig(["@acme/notes@2.1.0"]);
    expect((await run("lock", "notes", "--json")).json).toMatchObject({ hasChangedConfig: false });
    const [tree = ""] = trees();
    const lockFile = join(bench.stateDir, "packages", "notes", tree, "package-lock.json");
    const { packages } = JSON.parse(readFileSync(lockFile, "utf8")) as {
      packages: Record<string, { integrity?: string }>;
    };
    expect(packages["node_modules/one-word"]?.integrity).toMatch(/^sha512-/);
    expect((await callRead()).exitCode).toBe(0);

    const dependency = join(
      bench.stateDir,
      "packages",
      "notes",
      tree,
      "node_modules",
      "one-word",
      "index.js",
    );
    const source = readFileSync(dependency, "utf8");
    for (const spoil of [
      () => appendFileSync(dependency, "\n// one byte more"),
      () => writeFileSync(join(dependency, "..", "extra.js"), ""),
      () => rmSync(dependency),
    ]) {
      spoil();
      const refused = await callRead();
      expect(refused).toMatchObject({ exitCode: 5, json: { effect: "none", code: "server_unavailable" } });
      expect(refused.json["message"]).toContain("has changed since it was locked");
      expect(refused.json["message"]).toContain("run `portcullis lock notes`");
      writeFileSync(dependency, source, { mode: 0o755 });
      rmSync(join(dependency, "..", "extra.js"), { force: true });
    }
    expect((await callRead()).exitCode).toBe(0);
    expect(bench.sent("read")).toBe(2);
  });

  it("puts the same tree back where it is missing: on another machine that shares the store", async () => {
    writeConfig(["-y", "@acme/notes@2.1.0"]);
    expect((await run("lock", "notes")).exitCode).toBe(0);
    const [tree = ""] = trees();
    rmSync(join(bench.stateDir, "packages"), { recursive: true });
    expect((await callRead()).exitCode).toBe(5);
    expect((await run("lock", "notes")).exitCode).toBe(0);
    expect(trees()).toEqual([tree]);
    expect((await callRead()).json).toMatchObject({ outcome: "completed" });
  });

  it("a version that was changed by hand is not the locked one", async () => {
    writeConfig(["@acme/notes@2.1.0"]);
    await run("lock", "notes");
    writeConfig(["@acme/notes@2.2.0"]);
    const refused = await callRead();
    expect(refused.exitCode).toBe(5);
    expect(refused.json["message"]).toContain("2.1.0 is locked, and the entry names `@acme/notes` 2.2.0");
    publishNotes("2.2.0");
    expect((await run("lock", "notes")).exitCode).toBe(0);
    expect((await callRead()).exitCode).toBe(0);
    // The tree before stays for a server that may still run from it, an older one goes.
    expect(trees().length).toBe(2);
    expect((await run("lock", "notes", "--forget", "--json")).json).toEqual({
      server: "notes",
      forgotten: true,
    });
    expect(existsSync(join(bench.stateDir, "packages", "notes")) ? trees() : []).toEqual([]);
  });

  it("refuses other bytes under a version that was locked before, and keeps what it has", async () => {
    writeConfig(["@acme/notes@2.1.0"]);
    await run("lock", "notes");
    publishNotes("2.1.0", {}, { "evil.js": "steal()" });
    rmSync(join(bench.dir, "npm-cache"), { recursive: true, force: true });
    const refused = await run("lock", "notes", "--json");
    expect(refused.exitCode).toBe(5);
    expect(JSON.stringify(refused.json)).toContain("other bytes");
    expect(trees().length).toBe(1);
    expect((await callRead()).exitCode).toBe(0);
  });

  it("refuses what nothing holds to its bytes, and leaves nothing behind", async () => {
    const repository = join(bench.dir, "repository");
    mkdirSync(repository);
    writeFileSync(join(repository, "package.json"), '{"name":"one-word","version":"1.0.3"}');
    const identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
    for (const words of [
      ["init", "-q"],
      ["add", "."],
      [...identity, "commit", "-q", "-m", "x"],
    ])
      spawnSync("git", words, { cwd: repository });
    publishNotes("3.0.0", { dependencies: { "one-word": `git+file://${repository}` } });
    writeConfig(["@acme/notes@3.0.0"]);
    const moving = await run("lock", "notes", "--json");
    expect(moving.exitCode).toBe(5);
    expect(JSON.stringify(moving.json)).toContain("nothing holds it to its bytes");
    writeConfig(["@acme/notes@9.9.9"]);
    const absent = await run("lock", "notes", "--json");
    expect(absent.exitCode).toBe(5);
    expect(JSON.stringify(absent.json)).toContain("npm could not install it");
    expect(trees()).toEqual([]);
  });

  it("starts the program that is named, and asks where it is not clear", async () => {
    publishNotes(
      "4.0.0",
      { bin: { one: "one.mjs", two: "server.mjs" } },
      { "one.mjs": "#!/usr/bin/env node\n" },
    );
    writeConfig(["-y", "-p", "@acme/notes@4.0.0", "two"]);
    expect((await run("lock", "notes")).exitCode).toBe(0);
    expect((await callRead()).exitCode).toBe(0);
    writeConfig(["-y", "@acme/notes@4.0.0"]);
    const unclear = await run("lock", "notes");
    expect(unclear.exitCode).toBe(5);
    expect(unclear.stderr).toContain("write `-p @acme/notes PROGRAM`");
  });

  it.each([
    [{ url: "https://example.com/mcp" }, "remote server"],
    [{ command: "node", args: ["x.js"] }, "your own"],
    [{ command: "uvx", args: ["mcp-server-git"] }, "only npm packages are locked here"],
    [{ command: "docker", args: ["run", "x:1.2.3"] }, "only npm packages are locked here"],
    [{ command: "npx", args: ["-p", "a", "-p", "b", "c"] }, "several packages"],
    [{ command: "npx", args: ["--node-options", "x", "a"] }, "leave it out"],
    [{ command: "npx", args: ["github:acme/notes"] }, "by an address"],
  ])("says why %j cannot be locked, and what to do", async (entry, why) => {
    bench.writeConfig({ mcpServers: { notes: entry } });
    const refused = await run("lock", "notes");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(why);
    expect(refused.stderr).not.toContain("installing");
    expect((await run("lock", "notes", "--forget")).exitCode).toBe(0);
    expect((await run("lock", "nobody", "--forget", "--json")).json).toMatchObject({
      error: { code: "unknown_server" },
    });
  });
});

describeSandbox("a locked package in a sandbox", TIMEOUT, () => {
  it("starts without a network, from a state directory that it cannot read otherwise [SEC-17]", async () => {
    writeConfig(["@acme/notes"], { sandbox: {}, env: {} });
    await run("lock", "notes");
    expect((await callRead()).json).toMatchObject({ outcome: "completed" });
  });
});
