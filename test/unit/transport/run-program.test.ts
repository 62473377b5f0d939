import { describe, expect, it } from "vitest";
import { systemClock as clock } from "../../../src/base/clock.ts";
import { isGroupGone } from "../../../src/transport/process-group.ts";
import type { ProcessCommand } from "../../../src/transport/process.ts";
import { runProgram } from "../../../src/transport/run-program.ts";

function script(code: string): ProcessCommand {
  const env = { PATH: process.env["PATH"] ?? "" };
  return { command: process.execPath, args: ["-e", code], env, cwd: process.cwd() };
}

describe("runProgram", { timeout: 30_000 }, () => {
  it("gives back what was said and how it ended; a failure is an answer", async () => {
    const code = "process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 3";
    expect(await runProgram(script(code), { clock, timeoutMs: 10_000 })).toEqual({
      code: 3,
      signal: null,
      stdout: "out",
      stderr: "err",
    });
  });

  it("keeps no more than the cap, and reads the rest so that the program can end", async () => {
    const code = "process.stdout.write('x'.repeat(3_000_000))";
    const { stdout } = await runProgram(script(code), { clock, timeoutMs: 10_000, maxOutputBytes: 1_000 });
    expect(stdout).toBe("x".repeat(1_000));
  });

  it("ends the whole group of one that takes too long, or is not wanted any more", async () => {
    const code =
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e3)'], { stdio: 'inherit' }); setInterval(() => {}, 1e3)";
    await expect(runProgram(script(code), { clock, timeoutMs: 300 })).rejects.toMatchObject({
      code: "timed_out",
    });
    const controller = new AbortController();
    const running = runProgram(script(code), { clock, timeoutMs: 30_000, signal: controller.signal });
    controller.abort(new Error("not wanted"));
    await expect(running).rejects.toThrow("not wanted");
  });

  it("does not wait for a child that keeps the pipes open, and ends it", async () => {
    const code =
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e3)'], { stdio: 'inherit' }); c.unref(); console.log(process.pid); setTimeout(() => process.exit(0), 100)";
    const { stdout } = await runProgram(script(code), { clock, timeoutMs: 20_000 });
    expect(await isGroupGone(Number(stdout))).toBe(true);
  });

  it("names a program that is not there", async () => {
    const command = { command: "no-such-program", args: [], env: { PATH: "/nowhere" }, cwd: "/" };
    await expect(runProgram(command, { clock, timeoutMs: 1_000 })).rejects.toMatchObject({
      code: "spawn_failed",
    });
  });
});
