/** Servers that go away at a bad moment, and commands that cannot be started. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeScript, ownServer } from "../support/own-server.ts";
import { isLiving, livingMembers } from "../support/process-group.ts";
import { errorOf, openStdioSession } from "../support/stdio-session.ts";

describe("a server that ends by itself", () => {
  it("fails what is in flight with its exit code and the end of its stderr", async () => {
    const session = await openStdioSession(ownServer("stdio-exits", ["3"]));
    const error = await errorOf(session.request("a"));
    expect(error.code).toBe("process_exited");
    expect(error.data).toEqual({ exitCode: 3, signal: null, stderrTail: "fatal: ␛[31mdatabase gone␛[0m" });
    expect(error.message).not.toContain("database");
    expect(session.transport.exit).toEqual({ code: 3, signal: null });
    expect(await session.transport.close()).toEqual({ how: "clean" });
    expect(session.timesClosed()).toBe(1);
  });

  it("names the signal that ended it", async () => {
    const session = await openStdioSession(ownServer("stdio-exits", ["SIGKILL"]));
    const error = await errorOf(session.request("a"));
    expect(error.code).toBe("process_exited");
    expect(error.data["signal"]).toBe("SIGKILL");
    await session.transport.close();
  });

  it("still delivers everything that it had written", async () => {
    const session = await openStdioSession(ownServer("stdio-answers-and-exits"));
    expect(await session.request("a")).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(session.messages).toHaveLength(2_001);
    expect((await session.closed)?.code).toBe("process_exited");
    await session.transport.close();
  });

  it("drops half a line, and says that it came", async () => {
    const session = await openStdioSession(ownServer("stdio-half-line"));
    expect((await errorOf(session.request("a"))).code).toBe("process_exited");
    expect(session.oddities).toEqual([{ kind: "stdio.noise-line", sample: '{"jsonrpc":"2.0","id":1,"resu' }]);
    await session.transport.close();
  });

  it("settles at once though a grandchild holds its pipes, and ends the grandchild", async () => {
    const session = await openStdioSession(ownServer("stdio-grandchild", ["leave"]));
    const { params } = (await session.waitFor((message) => "method" in message)) as unknown as {
      params: { pid: number };
    };
    await expect.poll(() => session.transport.stderrTail()).toContain("ready");
    const startedAt = performance.now();
    expect((await errorOf(session.request("a"))).data["exitCode"]).toBe(5);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await session.transport.close()).toEqual({ how: "killed" });
    expect(isLiving(params.pid)).toBe(false);
    expect(livingMembers(session.transport.pid)).toEqual([]);
  });

  it("fails with `connection_lost` where only stdout is closed, and is ended", async () => {
    const session = await openStdioSession(ownServer("stdio-closes-stdout"));
    expect((await errorOf(session.request("a"))).code).toBe("connection_lost");
    expect(await session.transport.close()).toEqual({ how: "terminated" });
  });

  it("fails with `connection_lost` and the errno where its stdin is closed, and is ended", async () => {
    const session = await openStdioSession(ownServer("stdio-closes-stdin"));
    await session.request("a");
    const error = await errorOf(session.request("b"));
    expect(error.code).toBe("connection_lost");
    expect(error.data["errno"]).toBe("EPIPE");
    expect(await session.transport.close()).toEqual({ how: "terminated" });
  });

  it("refuses what is sent afterwards as not sent", async () => {
    const session = await openStdioSession(ownServer("stdio-exits", ["0"]));
    await errorOf(session.request("a"));
    const error = await errorOf(session.request("b"));
    expect(error.code).toBe("connection_lost");
    expect(error.data["wasSent"]).toBe(false);
    await session.transport.close();
  });
});

describe("a command that cannot be started", () => {
  const open = (command: string, more: object = {}) =>
    openStdioSession({ command, args: [], env: { PATH: "/usr/bin:/bin" }, cwd: process.cwd(), ...more });

  it("names the command and the PATH that was searched", async () => {
    const error = await errorOf(open("no-such-command"));
    expect(error.code).toBe("spawn_failed");
    expect(error.message).toBe("command `no-such-command` was not found in PATH `/usr/bin:/bin`");
  });

  it("names the working directory where that is what is missing", async () => {
    const error = await errorOf(open("ls", { cwd: "/no/such/folder" }));
    expect(error.code).toBe("spawn_failed");
    expect(error.message).toBe("working directory `/no/such/folder` does not exist");
  });

  it("says that a file is not executable", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stdio-"));
    const file = join(folder, "script");
    writeFileSync(file, "#!/bin/sh\n", { mode: 0o600 });
    try {
      expect((await errorOf(open(file))).data["errno"]).toBe("EACCES");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("refuses a NUL character and arguments that are too long", async () => {
    expect((await errorOf(open("ls", { args: ["a\0b"] }))).code).toBe("spawn_failed");
    expect((await errorOf(open("ls", { args: ["x".repeat(8 * 1024 * 1024)] }))).data["errno"]).toBe("E2BIG");
  });

  it("tells a missing interpreter from a crash: exit code 127 before any message is `spawn_failed`", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stdio-"));
    const file = join(folder, "script");
    writeFileSync(file, "#!/usr/bin/env nosuchruntime\n", { mode: 0o700 });
    try {
      const session = await open(file);
      const error = await session.closed;
      expect(error?.code).toBe("spawn_failed");
      expect(error?.message).toContain("PATH `/usr/bin:/bin`");
      expect(error?.data["stderrTail"]).toContain("nosuchruntime");
      await session.transport.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("runs without a shell: arguments arrive as they are, and nothing is added to the environment [STDIO-11]", async () => {
    const args = [
      "a&b",
      "a|calc",
      "$HOME",
      "%PATH%",
      "^",
      '"',
      'a"b',
      "\\",
      "",
      "new\nline",
      "!x!",
      "ünïcode 🎉",
      "`id`",
      "*",
    ];
    const command = ownServer("stdio-environment", args, { TOKEN: "t0ken" });
    const session = await openStdioSession(command);
    const { result } = (await session.request("a")) as unknown as {
      result: { env: object; args: string[]; cwd: string };
    };
    expect(result.args).toEqual(args);
    expect(result.env).toEqual(command.env);
    expect(result.cwd).toBe(process.cwd());
    await session.transport.close();
  });

  it("kills what it started when open is aborted, also while the child is being written down", async () => {
    const abort = new AbortController();
    const struckOff: number[] = [];
    const opening = openStdioSession(nodeScript("-e", ["setInterval(() => 0, 1000)"]), {
      registerChild: async ({ pid }) => {
        abort.abort(new Error("no longer wanted"));
        await new Promise((resolve) => setImmediate(resolve));
        return async () => void struckOff.push(pid);
      },
      signal: abort.signal,
    });
    await expect(opening).rejects.toThrow("no longer wanted");
    expect(await opening.catch(() => abort.signal.aborted)).toBe(true);
    await expect.poll(() => struckOff.length).toBe(1);
    expect(livingMembers(struckOff[0])).toEqual([]);
  });

  it("runs a child that could not be written down, and says so", async () => {
    const session = await openStdioSession(ownServer("contract-peer"), {
      registerChild: () => Promise.reject(new Error("disk full")),
    });
    expect(await session.request("echo", { a: 1 })).toMatchObject({ result: { echo: { a: 1 } } });
    expect(session.oddities).toEqual([{ kind: "stdio.child-not-registered", sample: "disk full" }]);
    await session.transport.close();
  });
});
