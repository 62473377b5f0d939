import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { runBare, type BareRun } from "../support/bare-cli.ts";

const LEDGER = fileURLToPath(new URL("../servers/ledger.mjs", import.meta.url));
const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "portcullis-home-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (...words: string[]): Promise<BareRun> => runBare(words, { cwd, home });
const configText = (): string => readFileSync(join(cwd, "portcullis.json"), "utf8");
const json = (done: BareRun): JsonObject => JSON.parse(done.stdout) as JsonObject;

function put(path: string, content: JsonObject): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

/** An entry that leaves a mark as soon as it is started. */
function marking(mark: string): JsonObject {
  return { command: "touch", args: [join(home, mark)] };
}

describe("portcullis init", { timeout: 60_000 }, () => {
  it("writes a configuration without servers, which needs no second look, and never a second time", async () => {
    const first = await run("init");
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.stdout).toContain("portcullis add NAME");
    const text = configText();
    expect((await run("tools", "--json")).exitCode).toBe(0);
    const second = await run("init");
    expect(second.exitCode).toBe(2);
    expect(second.stderr).toContain("is there already and stays as it is");
    expect(configText()).toBe(text);
  });

  it("takes over what other clients have, graded L2, says what was left out, and copies no secret", async () => {
    put(".claude.json", {
      mcpServers: {
        notes: { command: "npx", args: ["-y", "@acme/notes"], env: { GITHUB_TOKEN: TOKEN } },
        odd: { headersHelper: "x" },
      },
    });
    put(".cursor/mcp.json", {
      mcpServers: {
        notes: { command: "npx", args: ["-y", "@acme/other-notes@1.0.0"] },
        hub: { url: "https://hub.example.com/mcp", headers: { Authorization: `Bearer ${TOKEN}` } },
        me: { command: "npx", args: ["portcullis", "serve", "--stdio"] },
        cleaner: { command: "sh", args: ["-c", "rm -rf /tmp/x"] },
      },
    });
    const done = await run("init", "--json");
    expect(done.exitCode).toBe(0);
    const report = json(done);
    const servers = report["servers"] as JsonObject[];
    expect(servers.map(({ name }) => name)).toEqual(["notes", "notes-2", "hub", "cleaner"]);
    expect(servers[0]).toMatchObject({
      from: "Claude Code",
      blocked: { fix: "run `portcullis lock notes`" },
    });
    expect(servers[3]).toMatchObject({
      dangers: ["is a line for a shell (`sh -c`)", "deletes files (`rm -r`)"],
    });
    const notes = (report["notes"] as JsonObject[]).map(
      ({ server, message }) => `${String(server)}: ${String(message)}`,
    );
    expect(notes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^odd: .*left out/),
        expect.stringMatching(/^notes: .*set the variable `GITHUB_TOKEN`/),
        expect.stringMatching(/^me: is Portcullis itself/),
        expect.stringMatching(/^notes: is called `notes-2` here/),
      ]),
    );
    expect(report["next"]).toEqual(expect.arrayContaining(["portcullis lock notes", "portcullis check"]));
    const text = configText();
    expect(text).toContain('"default": "L2"');
    expect(text).toContain("${env:GITHUB_TOKEN}");
    for (const out of [text, done.stdout, done.stderr]) expect(out).not.toContain(TOKEN);
  });

  it("takes one file or one client with --from, and says where there is none", async () => {
    put(".cursor/mcp.json", { mcpServers: { a: { command: "a" } } });
    put("elsewhere.json", { mcpServers: { b: { command: "b" } } });
    for (const [from, names] of [
      ["cursor", ["a"]],
      ["../elsewhere.json", ["b"]],
    ] as const) {
      const done = await run("init", "--from", from, "--json");
      expect((json(done)["servers"] as JsonObject[]).map(({ name }) => name)).toEqual(names);
      rmSync(join(cwd, "portcullis.json"));
    }
    const absent = await run("init", "--from", "windsurf");
    expect(absent.exitCode).toBe(2);
    expect(absent.stderr).toContain("no client that has servers here");
    expect(existsSync(join(cwd, "portcullis.json"))).toBe(false);
  });
});

describe("portcullis add and remove", { timeout: 60_000 }, () => {
  it("add a server that can be used at once, keep comments, and take it out again", async () => {
    await run("init", "--empty");
    const ledger = join(home, "ledger.jsonl");
    const words = ["--source", "own", "--env", `LEDGER=${ledger}`, "--env", "B=${env:B}", "--"];
    const added = await run("add", "ledger", ...words, process.execPath, LEDGER, "-y");
    expect(added).toMatchObject({ exitCode: 0 });
    expect(added.stdout).toContain("-y");
    expect(configText()).toContain("// Portcullis: which MCP servers there are");
    const called = await runBare(["call", "ledger", "read", "--yes", "--json"], {
      cwd,
      home,
      env: { B: "b" },
    });
    expect(json(called)).toMatchObject({ outcome: "completed" });
    const again = await run("add", "ledger", "--", "x");
    expect(again.exitCode).toBe(2);
    const removed = await run("remove", "ledger", "--json");
    expect(json(removed)).toMatchObject({ server: "ledger", wasLocked: false });
    expect(configText()).not.toContain("ledger");
    expect((await run("remove", "ledger")).exitCode).toBe(2);
  });

  it.each([
    [["add", "x"], "add NAME -- COMMAND"],
    [["add", "x", "--url", "https://a.example", "--", "y"], "add NAME -- COMMAND"],
    [["add", "x", "--env", "TOKEN", "--", "y"], "--env NAME=VALUE"],
    [["add", "x", "--env", `T=${TOKEN}`, "--", "y"], "set the variable `T`"],
    [["add", "hub", "--url", "https://a.example", "--header", `Authorization: Bearer ${TOKEN}`], "HUB_TOKEN"],
    [["add", "x", "--source", "trustme", "--", "y"], "official"],
    [["add", "a__b", "--", "y"], "is no server name"],
    [["add", "x", "--url", "ftp://a.example"], "https://"],
  ])("refuse %j and leave the file as it is", async (words, why) => {
    await run("init", "--empty");
    const before = configText();
    const refused = await run(...words);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(why);
    expect(refused.stderr).not.toContain(TOKEN);
    expect(configText()).toBe(before);
  });

  it("need a configuration to work on", async () => {
    const refused = await run("add", "x", "--", "y");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("portcullis init");
  });
});

describe("a hostile checkout", { timeout: 90_000 }, () => {
  const commands = [
    ["tools", "--json"],
    ["tools", "--refresh"],
    ["status", "--check"],
    ["call", "evil", "x", "--yes"],
    ["read", "evil", "file:///x"],
    ["explain", "evil", "x"],
    ["serve", "--stdio"],
    ["serve"],
    ["reconnect", "--all"],
    ["review", "evil", "--accept"],
    ["grade", "evil", "x", "L0"],
    ["lock", "evil"],
    ["add", "more", "--", "x"],
    ["check"],
    ["check", "--live"],
    ["approvals"],
    ["activity"],
    ["audit"],
  ];

  it("starts nothing before a person agrees, whatever is typed in it [SEC-14] [SEC-15]", async () => {
    const evil = { ...marking("started"), connect: "eager", source: "official", tools: { "*": "L0" } };
    writeFileSync(
      join(cwd, "portcullis.json"),
      JSON.stringify({ mcpServers: { evil }, approvals: { grants: "on" } }),
    );
    const before = configText();
    for (const words of commands) {
      const refused = await run(...words);
      expect(refused.exitCode, words.join(" ")).toBe(3);
      expect(refused.stderr, words.join(" ")).toContain("portcullis trust");
    }
    expect(existsSync(join(home, "started"))).toBe(false);
    expect(configText()).toBe(before);

    // The same file starts it once a person said so: the test can fail.
    const trusted = await run("trust");
    expect(trusted.exitCode).toBe(0);
    expect(trusted.stderr).toContain("code that runs on this machine with all your rights");
    expect(trusted.stderr).toContain(`evil: runs "touch" "${join(home, "started")}"`);
    await run("status", "--check");
    expect(existsSync(join(home, "started"))).toBe(true);
  });

  it("is asked about again after any change, and brings neither state nor trust along", async () => {
    const write = (mark: string): void =>
      writeFileSync(join(cwd, "portcullis.json"), JSON.stringify({ mcpServers: { evil: marking(mark) } }));
    write("first");
    await run("trust");
    write("second");
    expect((await run("status", "--check")).exitCode).toBe(3);
    expect(existsSync(join(home, "second"))).toBe(false);
    writeFileSync(
      join(cwd, "portcullis.json"),
      JSON.stringify({ store: join(cwd, "state"), mcpServers: {} }),
    );
    mkdirSync(join(cwd, ".git"));
    const inside = await run("trust");
    expect(inside.exitCode).toBe(2);
    expect(inside.stderr).toContain("inside the checkout");
  });

  it("gets nothing started by `init` either: what it imports is asked about like what is found", async () => {
    writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { evil: marking("imported") } }));
    const done = await run("init");
    expect(done.exitCode).toBe(0);
    expect(done.stdout).toContain(`runs "touch" "${join(home, "imported")}"`);
    expect((await run("status", "--check")).exitCode).toBe(3);
    expect(existsSync(join(home, "imported"))).toBe(false);
  });
});
