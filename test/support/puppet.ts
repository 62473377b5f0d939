/** The puppet server over stdio, with its strings and its ledger; see `test/servers/puppet.mjs`. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/base/json.ts";

const SCRIPT = fileURLToPath(new URL("../servers/puppet.mjs", import.meta.url));

export type Misbehaviour =
  | "exit"
  | "kill"
  | "silent"
  | "garbage"
  | "huge"
  | "shut"
  | "error"
  | "unknown"
  | "slow";

export interface PuppetControl {
  readonly era?: "legacy" | "modern" | "both" | "none";
  readonly versions?: readonly string[];
  readonly tools?: readonly JsonObject[];
  readonly ttlMs?: number;
  readonly listChanged?: boolean;
  readonly at?: Readonly<Record<string, Misbehaviour>>;
  readonly slowMs?: number;
  readonly pauseMs?: number;
  readonly steps?: number;
  readonly stderr?: string;
  readonly changed?: number;
}

export interface PuppetLine {
  readonly pid: number;
  readonly did?: string;
  readonly got?: string;
  readonly modern?: boolean;
  readonly tool?: string;
  readonly args?: JsonObject;
  readonly applied?: string;
  readonly cancelled?: number;
}

export interface Puppet {
  /** Its entry in `mcpServers`; `read` and `stream` are L0, `write` is L1. */
  readonly entry: JsonObject;
  /** Pulls other strings, from the next message on. */
  pull(control: PuppetControl): void;
  lines(): readonly PuppetLine[];
  /** How often it was started. */
  starts(): number;
  /** Messages of `method` that it got. */
  got(method: string): number;
  /** Calls of `tool` that it got. */
  called(tool: string): number;
  /** The process that was started last. */
  pid(): number;
}

export const PUPPET_GRADES: JsonObject = { read: "L0", stream: "L0", fail: "L0", write: "L1" };

export function createPuppet(dir: string, name: string, more: JsonObject = {}): Puppet {
  const controlFile = join(dir, `${name}.control.json`);
  const ledgerFile = join(dir, `${name}.ledger.jsonl`);
  const pull = (control: PuppetControl): void => {
    // In one step: the puppet may be reading it.
    writeFileSync(`${controlFile}.new`, JSON.stringify(control));
    renameSync(`${controlFile}.new`, controlFile);
  };
  pull({});
  const lines = (): readonly PuppetLine[] => {
    if (!existsSync(ledgerFile)) return [];
    const written = readFileSync(ledgerFile, "utf8").split("\n");
    return written.filter((line) => line !== "").map((line) => JSON.parse(line) as PuppetLine);
  };
  return {
    entry: {
      command: process.execPath,
      args: [SCRIPT],
      source: "own",
      tools: PUPPET_GRADES,
      ...more,
      env: { CONTROL: controlFile, LEDGER: ledgerFile, ...(more["env"] as JsonObject | undefined) },
    },
    pull,
    lines,
    starts: () => lines().filter((line) => line.did === "start").length,
    got: (method) => lines().filter((line) => line.got === method).length,
    called: (tool) => lines().filter((line) => line.tool === tool).length,
    pid() {
      const started = lines().findLast((line) => line.did === "start");
      if (started === undefined) throw new Error(`${name} was never started`);
      return started.pid;
    },
  };
}
