import { describe, expect, it } from "vitest";
import { fromPipeError, fromProcessExit, fromSpawnError } from "../../../src/transport/process-error.ts";

const facts = { command: "srv", cwd: "/", path: "/bin" };
const errno = (code: string): Error => Object.assign(new Error("x"), { code });

describe("fromSpawnError", () => {
  for (const [code, command, message] of [
    ["ENOENT", "srv", "command `srv` was not found in PATH `/bin`"],
    ["ENOENT", "./srv", "command `./srv` does not exist, or its interpreter does not"],
    ["EACCES", "srv", "command `srv` may not be executed (EACCES)"],
    ["E2BIG", "srv", "arguments and environment of `srv` are too long for the operating system"],
    ["EAGAIN", "srv", "no resources left to start `srv` (EAGAIN)"],
    ["EWHATEVER", "srv", "command `srv` could not be started (EWHATEVER)"],
  ] as const) {
    it(`${code} of ${command}`, () => {
      const cause = errno(code);
      const error = fromSpawnError(cause, { ...facts, command });
      expect([error.code, error.message, error.cause]).toEqual(["spawn_failed", message, cause]);
    });
  }

  it("names the working directory where that is missing", () => {
    expect(fromSpawnError(errno("ENOENT"), { ...facts, cwd: "/no/such" }).message).toBe(
      "working directory `/no/such` does not exist",
    );
  });
});

describe("fromProcessExit", () => {
  for (const [code, signal, hasSpoken, expected] of [
    [0, null, true, "process_exited"],
    [1, null, false, "process_exited"],
    [null, "SIGSEGV", true, "process_exited"],
    [127, null, false, "spawn_failed"],
    [126, null, false, "spawn_failed"],
    [127, null, true, "process_exited"],
  ] as const) {
    it(`code ${code}, signal ${signal}, ${hasSpoken ? "after" : "before"} a message: ${expected}`, () => {
      const error = fromProcessExit({ code, signal }, { ...facts, stderrTail: "last words", hasSpoken });
      expect(error.code).toBe(expected);
      expect(error.data).toMatchObject({ exitCode: code, signal, stderrTail: "last words" });
      expect(error.message).not.toContain("last words");
    });
  }
});

describe("fromPipeError", () => {
  it("keeps the errno as data", () => {
    const error = fromPipeError(errno("EPIPE"), "stdin", { command: "srv", stderrTail: "" });
    expect([error.code, error.data["errno"]]).toEqual(["connection_lost", "EPIPE"]);
    expect(fromPipeError(undefined, "stdout", { command: "srv", stderrTail: "" }).data["errno"]).toBeNull();
  });
});
