/** A place for one end-to-end test: a folder with a configuration, a state directory, and a ledger of what a server really got. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/base/json.ts";

const CLI = fileURLToPath(new URL("../../bin/portcullis.mjs", import.meta.url));
const LEDGER_SERVER = fileURLToPath(new URL("../servers/ledger.mjs", import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

export interface CliRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document on standard output. */
  readonly json: JsonObject;
}

export interface LedgerLine {
  readonly tool?: string;
  readonly args?: JsonObject;
  readonly pid?: number;
  readonly done?: string;
}

export interface Workbench {
  readonly dir: string;
  readonly configFile: string;
  readonly stateDir: string;
  /** What the ledger server got, in order. */
  ledger(): readonly LedgerLine[];
  /** Calls of `tool` that reached the ledger server. */
  sent(tool: string): number;
  writeConfig(config: JsonObject): void;
  /** An entry for the ledger server. */
  ledgerEntry(more?: JsonObject): JsonObject;
  /** An entry for the real `everything` server. */
  everythingEntry(more?: JsonObject): JsonObject;
  run(
    words: readonly string[],
    options?: { readonly env?: Record<string, string>; readonly stdin?: string },
  ): Promise<CliRun>;
  /** Starts the CLI and leaves it running. */
  start(words: readonly string[], env?: Record<string, string>): ChildProcess;
  remove(): void;
}

export function createWorkbench(): Workbench {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-e2e-"));
  const configFile = join(dir, "portcullis.json");
  const stateDir = join(dir, "state");
  const ledgerFile = join(dir, "ledger.jsonl");

  const start = (words: readonly string[], env: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, [CLI, "--config", configFile, "--state", stateDir, ...words], {
      cwd: dir,
      env: { PATH: process.env["PATH"] ?? "", HOME: dir, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });

  const ledger = (): readonly LedgerLine[] => {
    try {
      const lines = readFileSync(ledgerFile, "utf8").split("\n");
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as LedgerLine);
    } catch {
      return [];
    }
  };

  return {
    dir,
    configFile,
    stateDir,
    ledger,
    sent: (tool) => ledger().filter((line) => line.tool === tool).length,
    writeConfig: (config) => writeFileSync(configFile, JSON.stringify(config, null, 2)),
    ledgerEntry: (more = {}) => ({
      command: process.execPath,
      args: [LEDGER_SERVER],
      ...more,
      env: { LEDGER: ledgerFile, ...(more["env"] as JsonObject | undefined) },
    }),
    everythingEntry: (more = {}) => ({ command: process.execPath, args: [EVERYTHING, "stdio"], ...more }),
    start,
    async run(words, options = {}) {
      const child = start(words, options.env);
      child.stdin?.end(options.stdin ?? "");
      let stdout = "";
      let stderr = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", resolve);
      });
      return {
        exitCode,
        stdout,
        stderr,
        get json() {
          return JSON.parse(stdout) as JsonObject;
        },
      };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
