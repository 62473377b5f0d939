/**
 * What is known of a locked package: which bytes were installed where. The record lies in the store (`locks`, by server), the tree
 * beside it in the state directory; a tree that is not what the record says is never started.
 */
import { join } from "node:path";
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents } from "../store/store.ts";
import { hashTree } from "./lock-tree.ts";

/** One package of a tree, as its lock file names it. */
export interface LockedPackage {
  /** For example `node_modules/zod`. */
  readonly path: string;
  readonly version: string;
  /** As in the lock file, for example `sha512-…`; `null` for what came inside another package's archive. */
  readonly integrity: string | null;
}

export interface LockRecord {
  readonly ecosystem: "npm";
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Hex SHA-256 of the lock file. */
  readonly lockHash: string;
  /** Hex SHA-256 over every installed file. */
  readonly treeHash: string;
  /** Relative to the state directory, with `/`. */
  readonly folder: string;
  /** Which program of `node_modules/.bin` is started. */
  readonly program: string;
  readonly packages: readonly LockedPackage[];
  /** Packages that wanted to run a script while they were installed, and did not. */
  readonly scriptsNotRun: readonly string[];
  readonly lockedAt: number;
  readonly lockedBy: string;
}

/** The program of a locked tree, ready to be started. */
export interface LockedProgram {
  readonly command: string;
  readonly record: LockRecord;
}

export async function readLock(
  documents: Pick<Documents, "get">,
  server: string,
): Promise<LockRecord | undefined> {
  return toLockRecord((await documents.get("locks", server))?.value);
}

/**
 * The program to start in place of the runner; `undefined` where the server is not locked.
 *
 * @throws PortcullisError `server_blocked`, with the fix, where what is locked is not what the entry names, or the tree changed.
 */
export async function openLocked(
  server: ServerConfig,
  stateDir: string,
  documents: Pick<Documents, "get">,
): Promise<LockedProgram | undefined> {
  if (server.package === null) return undefined;
  const record = await readLock(documents, server.name);
  if (record === undefined) return undefined;
  const problem = await findLockProblem(server, record, stateDir);
  if (problem === null) {
    return { command: join(stateDir, record.folder, "node_modules", ".bin", record.program), record };
  }
  const fix = `run \`portcullis lock ${server.name}\``;
  throw new PortcullisError("server_blocked", `\`${server.name}\` is blocked: ${problem}; ${fix}`, {
    data: { reason: problem, fix },
  });
}

/** Why the locked tree may not be started; `null` where it may. */
export async function findLockProblem(
  server: ServerConfig,
  record: LockRecord,
  stateDir: string,
): Promise<string | null> {
  const launched = server.package;
  const locked = `\`${record.name}\` ${record.version}`;
  if (launched === null) return `${locked} is locked, and the entry starts no package`;
  if (launched.name !== record.name || launched.version !== record.version) {
    return `${locked} is locked, and the entry names \`${launched.name}\` ${launched.version ?? "without a version"}`;
  }
  let found: string;
  try {
    found = await hashTree(join(stateDir, record.folder));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "not readable";
    return `what was installed of ${locked} is not whole any more (${code})`;
  }
  return found === record.treeHash ? null : `what was installed of ${locked} has changed since it was locked`;
}

export function toStoredLock(record: LockRecord): JsonObject {
  return {
    ...record,
    packages: record.packages.map((one) => ({ ...one })),
    scriptsNotRun: [...record.scriptsNotRun],
  };
}

/** `undefined` for what was not written here. */
function toLockRecord(value: JsonValue | undefined): LockRecord | undefined {
  if (!isJsonObject(value) || ownProperty(value, "ecosystem") !== "npm") return undefined;
  const texts = ["name", "version", "integrity", "lockHash", "treeHash", "folder", "program", "lockedBy"];
  if (!texts.every((key) => typeof ownProperty(value, key) === "string")) return undefined;
  if (!Array.isArray(value["packages"]) || !Array.isArray(value["scriptsNotRun"])) return undefined;
  if (typeof value["lockedAt"] !== "number") return undefined;
  return value as unknown as LockRecord;
}
