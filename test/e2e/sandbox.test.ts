import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const PRISONER = fileURLToPath(new URL("../servers/prisoner.mjs", import.meta.url));

let bench: Workbench;
let marker: string;
const hosts: Host[] = [];
const servers: Server[] = [];

beforeEach(() => {
  bench = createWorkbench();
  marker = `prisoner-of-${bench.dir}`;
  mkdirSync(join(bench.dir, "given"));
  mkdirSync(join(bench.dir, "scratch"));
  writeFileSync(join(bench.dir, "given", "note.txt"), "for the server");
  writeFileSync(join(bench.dir, "private.txt"), "not for the server");
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  bench.remove();
});

/** @param sandbox `null`: none. */
async function open(sandbox: JsonObject | null, more: JsonObject = {}): Promise<Host> {
  const prisoner = {
    command: process.execPath,
    args: [PRISONER, marker],
    cwd: bench.dir,
    source: "own",
    default: "L0",
    env: { GIVEN: "x" },
    ...(sandbox === null ? {} : { sandbox }),
    ...more,
  };
  bench.writeConfig({ mcpServers: { prisoner } });
  const host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
  hosts.push(host);
  return host;
}

async function outcomeOf(host: Host, tool: string, args: JsonObject = {}): Promise<Outcome> {
  return host.call({ server: "prisoner", tool }, args);
}

async function tell(host: Host, tool: string, args: JsonObject = {}): Promise<string> {
  const outcome = await outcomeOf(host, tool, args);
  const [block] = outcome.content;
  return block?.type === "text" ? String(block["text"]) : `${outcome.outcome}: ${outcome.message}`;
}

/** Processes of this machine that hold the marker in their command line. */
function listMarked(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(marker);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function untilNoneIsMarked(): Promise<void> {
  for (let turn = 0; turn < 500 && listMarked().length > 0; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A listener that counts who comes. @param where a port on loopback (0), or the path of a socket. */
async function listen(where: number | string): Promise<{ server: Server; seen: () => number; port: number }> {
  let seen = 0;
  const server = createServer((socket) => {
    seen += 1;
    socket.on("error", () => undefined).destroy();
  });
  servers.push(server);
  await new Promise<void>((resolve) =>
    typeof where === "string"
      ? server.listen(where, () => resolve())
      : server.listen(where, "127.0.0.1", () => resolve()),
  );
  const address = server.address();
  return { server, seen: () => seen, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

const FORBIDDEN = /^E(?:NOENT|ACCES|PERM|ROFS|BUSY)$/;

describeSandbox("a local server in a sandbox", { timeout: 60_000 }, () => {
  it("reads what it was given, and nothing outside [SEC-17] [SEC-18] [SEC-19]", async () => {
    const given = join(bench.dir, "given");
    symlinkSync(join(bench.dir, "private.txt"), join(given, "way-out"));
    const host = await open({ read: ["./given"] });
    expect(await tell(host, "read", { path: join(given, "note.txt") })).toBe("for the server");
    const outside = [
      join(bench.dir, "private.txt"),
      join(given, "way-out"),
      join(given, "../private.txt"),
      "/proc/1/root/etc/shadow",
      `/proc/self/root${bench.dir}/private.txt`,
      "/etc/shadow",
      join(bench.stateDir, "vault.key"),
      bench.configFile,
      join(process.env["HOME"] ?? "/root", ".bashrc"),
      fileURLToPath(new URL("../../package.json", import.meta.url)).replace("package.json", "README.md"),
    ];
    for (const path of outside) expect(await tell(host, "read", { path }), path).toMatch(FORBIDDEN);
    expect(existsSync(join(bench.stateDir, "vault.key"))).toBe(true);
    expect(await tell(host, "list", { path: "/" })).not.toMatch(/\b(?:boot|var|srv|mnt|run|opt)\b/);
  });

  it("without the sandbox the same server reads all of that: the test can fail", async () => {
    const host = await open(null);
    expect(await tell(host, "read", { path: join(bench.dir, "private.txt") })).toBe("not for the server");
    expect(await tell(host, "read", { path: bench.configFile })).toContain("mcpServers");
    const { seen, port } = await listen(0);
    expect(await tell(host, "dial", { host: "127.0.0.1", port })).toBe("connected");
    expect(seen()).toBe(1);
  });

  it("writes only where it may, and its own /tmp is nobody else's", async () => {
    const host = await open({ read: ["./given"], write: ["./scratch"] });
    expect(await tell(host, "write", { path: join(bench.dir, "scratch", "a"), text: "1" })).toBe("written");
    expect(readFileSync(join(bench.dir, "scratch", "a"), "utf8")).toBe("1");
    const path = `/tmp/portcullis-${process.pid}-probe`;
    expect(await tell(host, "write", { path, text: "1" })).toBe("written");
    expect(existsSync(path)).toBe(false);
    for (const target of [join(bench.dir, "given", "note.txt"), "/usr/x", "/x"])
      expect(await tell(host, "write", { path: target, text: "1" }), target).toMatch(FORBIDDEN);
    // The folder on the way to what was given is its own, as all of /tmp: nothing of it arrives here.
    await tell(host, "write", { path: join(bench.dir, "new"), text: "1" });
    expect(existsSync(join(bench.dir, "new"))).toBe(false);
    expect(readFileSync(join(bench.dir, "given", "note.txt"), "utf8")).toBe("for the server");
    const wayOut = await tell(host, "link", {
      path: join(bench.dir, "scratch", "l"),
      target: join(bench.dir, "private.txt"),
    });
    expect(wayOut).toMatch(FORBIDDEN);
  });

  it("opens no socket: not to this machine, not outwards, not to a socket in the file system", async () => {
    const { seen, port } = await listen(0);
    const path = join(bench.dir, "socket");
    const unix = await listen(path);
    const host = await open({ read: ["./given"] });
    expect(await tell(host, "dial", { host: "127.0.0.1", port })).toBe("ECONNREFUSED");
    expect(await tell(host, "dial", { host: "192.0.2.1", port: 443 })).toBe("ENETUNREACH");
    expect(await tell(host, "dial", { path })).toBe("ENOENT");
    expect(seen() + unix.seen()).toBe(0);
  });

  it('has the network of this machine with "net": ["any"], and only then', async () => {
    const { seen, port } = await listen(0);
    const host = await open({ net: ["any"] });
    expect(await tell(host, "dial", { host: "127.0.0.1", port })).toBe("connected");
    expect(seen()).toBe(1);
  });

  it("sees no process but its own, reaches none, and has no capability", async () => {
    const host = await open({});
    const pids = (await tell(host, "list", { path: "/proc" }))
      .split(" ")
      .filter((name) => /^\d+$/.test(name));
    expect(pids.length).toBeLessThan(5);
    expect(await tell(host, "signal", { pid: process.pid })).toBe("ESRCH");
    expect(await tell(host, "capabilities")).toMatch(/^0+$/);
    expect(await tell(host, "environment")).toMatch(/\bGIVEN\b/);
    expect(await tell(host, "where")).toBe(`${bench.dir} /tmp`);
  });

  it("cannot reach state and configuration even where a folder around them is given", async () => {
    const host = await open({ read: ["."] });
    expect(await tell(host, "read", { path: join(bench.dir, "private.txt") })).toBe("not for the server");
    expect(await tell(host, "read", { path: bench.configFile })).toMatch(FORBIDDEN);
    expect(await tell(host, "list", { path: bench.stateDir })).toBe("");
  });

  it("is ended with all that it started, also what left its group", async () => {
    const host = await open({});
    expect(await tell(host, "leave")).toBe("left");
    expect(listMarked().length).toBeGreaterThan(1);
    await hosts.splice(0)[0]?.close();
    await untilNoneIsMarked();
    expect(listMarked()).toEqual([]);
  });

  it("does not outlive a host that is killed", async () => {
    await open({});
    await hosts.splice(0)[0]?.close();
    const child = bench.start(["call", "prisoner", "wait"]);
    for (let turn = 0; turn < 1_000 && listMarked().length < 2; turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(listMarked().length).toBeGreaterThan(1);
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await gone;
    await untilNoneIsMarked();
    expect(listMarked()).toEqual([]);
  });

  it.each([
    ["a folder that holds the configuration", { write: ["."] }, "decides what is allowed"],
    ["a folder that holds the state", { write: [".."] }, "decides what is allowed"],
    ["the state itself", { read: ["./state"] }, "belongs to Portcullis"],
    ["what is not there", { read: ["./nothing"] }, "not there"],
    ["the processes of the machine", { read: ["/proc"] }, "shows the machine itself"],
  ])("is not started where it is given %s", async (_title, sandbox, why) => {
    const host = await open(sandbox);
    const outcome = await outcomeOf(host, "where");
    expect(outcome).toMatchObject({ outcome: "unavailable", code: "server_unavailable", effect: "none" });
    expect(outcome.message).toContain(why);
    expect((await host.status()).servers[0]).toMatchObject({ state: "blocked" });
    expect(listMarked()).toEqual([]);
  });

  it("does not let a runner fetch its package: it has to be locked first", async () => {
    const host = await open({}, { command: "npx", args: ["-y", "some-package@1.2.3"] });
    const outcome = await outcomeOf(host, "where");
    expect(outcome.message).toContain("portcullis lock prisoner");
  });
});

describe("where no sandbox can be had", { timeout: 60_000 }, () => {
  it("the server is blocked with the fix, and nothing runs bare", async () => {
    await open({ read: ["./given"] });
    const run = await bench.run(["call", "prisoner", "where", "--json"], {
      env: { PATH: dirname(process.execPath) },
    });
    expect(run.exitCode).toBe(5);
    expect(run.json["message"]).toContain("`bwrap` was not found in PATH");
    expect(run.json["message"]).toContain("apt install bubblewrap");
    expect(listMarked()).toEqual([]);
  });

  it("hosts cannot be told apart, so the file is refused where it names some", async () => {
    bench.writeConfig({ mcpServers: { x: { command: "x", sandbox: { net: ["api.example.com"] } } } });
    const run = await bench.run(["status"]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('write ["any"]');
  });
});
