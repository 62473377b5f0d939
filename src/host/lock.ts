/**
 * Locking a server: the exact version of its package is installed once, into the state directory, and started from there. The
 * configuration gets the exact version and nothing else; the record says which bytes were meant.
 */
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { randomId } from "../base/random.ts";
import { setArgument } from "../config/edit.ts";
import { parsePackageSpec } from "../config/package-spec.ts";
import { thisProcess } from "../config/this-process.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents } from "../store/store.ts";
import type { Principal } from "../vocabulary.ts";
import type { Host, LockReport } from "./api.ts";
import { requireServer, type Core } from "./core.ts";
import { installPackage } from "./lock-install.ts";
import { readLock, toStoredLock, type LockRecord } from "./lock-record.ts";
import { findLockable } from "./lockable.ts";

/** The two verbs of a host about locks. */
export function createLocks(core: Core, edit: Host["edit"]): Pick<Host, "lock" | "unlock"> {
  return {
    async lock(server, by, signal = core.signal) {
      const report = await lockServer(server, by, core, edit, signal);
      const { package: name, version, integrity, lockHash, treeHash } = report;
      await core.audit.note("server.locked", { server, by, name, version, integrity, lockHash, treeHash });
      // What runs was started from what stood there before.
      await core.pool.drop(server);
      return report;
    },
    async unlock(server, by) {
      const { documents } = core.store;
      const hadOne = (await documents.get("locks", server)) !== undefined;
      if (hadOne) {
        // Wherever this is cut off, nothing names a tree that is gone: trees go last, and the next time takes what is left.
        await core.audit.note("server.unlocked", { server, by });
        await documents.delete("locks", server);
        await core.pool.drop(server);
      }
      await removeTrees(core.config().stateDir, server, []);
      return hadOne;
    },
  };
}

async function lockServer(
  name: string,
  by: Principal,
  core: Core,
  edit: Host["edit"],
  signal: AbortSignal,
): Promise<LockReport> {
  const { documents } = core.store;
  const server = requireServer(core.config(), name);
  const argument = findLockable(server);
  const before = await readLock(documents, name);
  const { stateDir } = core.config();
  const folder = `packages/${name}/${randomId(core.random)}`;
  const dir = join(stateDir, folder);
  const packageName = server.package?.name ?? "";
  try {
    const installed = await installPackage({
      name: packageName,
      wanted: argument.spec.slice(packageName.length + 1),
      registry: argument.registry,
      program: argument.program,
      dir,
      facts: thisProcess(),
      clock: core.clock,
      redact: (text) => core.redactor.redact(text),
      signal,
    });
    const record: LockRecord = {
      ecosystem: "npm",
      name: packageName,
      ...installed,
      folder,
      lockedAt: core.clock.now(),
      lockedBy: by,
    };
    refuseOtherBytes(before, record);
    const isSame = before?.treeHash === record.treeHash;
    const isBack = isSame && (await putBack(dir, join(stateDir, before.folder)));
    const kept = isBack ? before : record;
    if (!isBack) await documents.put("locks", name, toStoredLock(record));
    const isExact = parsePackageSpec("npm", argument.spec).kind === "exact";
    const exact = `${argument.prefix}${packageName}@${record.version}`;
    if (!isExact) await edit(setArgument(name, argument.index, exact));
    await removeTrees(stateDir, name, [kept.folder, before?.folder]);
    return toReport(name, kept, !isExact);
  } catch (error) {
    const now = await readLock(documents, name);
    if (now?.folder === folder) await restore(documents, name, before);
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

function refuseOtherBytes(before: LockRecord | undefined, now: LockRecord): void {
  if (before === undefined || before.name !== now.name || before.version !== now.version) return;
  if (before.integrity === now.integrity) return;
  throw new PortcullisError(
    "server_blocked",
    `the registry gives other bytes for \`${now.name}\` ${now.version} than when it was locked: find out why before you use it (\`portcullis lock --forget\` takes the old record back)`,
    { data: { before: before.integrity, now: now.integrity } },
  );
}

/**
 * The same tree again, where it is missing: it was locked on another machine that shares the store, or was removed here. The record
 * stays as it is, and everybody's tree with it. @returns false where a tree is there.
 */
async function putBack(installed: string, place: string): Promise<boolean> {
  if (await stat(place).catch(() => undefined)) return false;
  await rename(installed, place);
  return true;
}

async function restore(documents: Documents, name: string, before: LockRecord | undefined): Promise<void> {
  if (before === undefined) await documents.delete("locks", name);
  else await documents.put("locks", name, toStoredLock(before));
}

/** Removes what was installed before; the tree that a running server may still read from stays until the next time. */
async function removeTrees(
  stateDir: string,
  name: string,
  kept: readonly (string | undefined)[],
): Promise<void> {
  const folder = join(stateDir, "packages", name);
  const keep = new Set(kept.map((path) => basename(path ?? "")));
  for (const found of await readdir(folder).catch(() => [])) {
    if (!keep.has(found)) await rm(join(folder, found), { recursive: true, force: true });
  }
}

function toReport(server: string, record: LockRecord, hasChangedConfig: boolean): LockReport {
  const { name, version, integrity, lockHash, treeHash, scriptsNotRun } = record;
  return {
    server,
    package: name,
    version,
    integrity,
    lockHash,
    treeHash,
    packages: record.packages.length,
    scriptsNotRun,
    hasChangedConfig,
  };
}
