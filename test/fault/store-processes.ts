/** Processes that work on a store, and what the file says afterwards. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

const dirs: string[] = [];

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A fresh directory, gone after the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-fault-"));
  dirs.push(dir);
  return dir;
}

/** Programs of this folder that a test runs and ends. */
const programs = {
  caller: new URL("store-caller.mjs", import.meta.url),
  leaver: new URL("store-leaver.mjs", import.meta.url),
  writer: new URL("store-writer.mjs", import.meta.url),
};

export interface Run {
  /** The lines of its standard output, as lists of words. */
  readonly lines: readonly (readonly string[])[];
  readonly exitCode: number | null;
  readonly stderr: string;
}

/**
 * Runs a program to its end.
 *
 * @param killAfter ends it with SIGKILL when so many lines were read.
 */
export async function runProgram(
  name: keyof typeof programs,
  args: readonly string[],
  killAfter?: number,
): Promise<Run> {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", fileURLToPath(programs[name]), ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const closed = once(child, "close");
  const lines: string[][] = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line.split(" "));
    if (lines.length === killAfter) child.kill("SIGKILL");
  });
  const [exitCode] = (await closed) as [number | null];
  // Each line is short enough for the pipe to take it as a whole: a killed process leaves none torn.
  return { lines, exitCode, stderr };
}

/** What SQLite itself says about the file: `ok` where it is sound. */
export function checkIntegrity(dir: string): unknown {
  const file = new DatabaseSync(join(dir, "state.db"));
  try {
    return file.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  } finally {
    file.close();
  }
}
