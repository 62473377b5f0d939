/**
 * Liveness where the operating system does not tell start times (everything but Linux): each instance holds a lock on a
 * small file of its own for as long as it lives, and the kernel gives the lock back whatever way the process ends. SQLite
 * takes the lock, because Node.js has no file locks of its own.
 */
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { prepareStateDirectory, prepareStateFile } from "./state-directory.ts";
import type { Liveness } from "./liveness.ts";
import { isBusy } from "./sqlite-errors.ts";

const FOLDER = "instances";

/**
 * @param dir the state directory.
 * @param id of this process's instance: `[A-Za-z0-9_-]+`.
 */
export function createLockLiveness(dir: string, id: string): Liveness {
  const folder = prepareStateDirectory(join(dir, FOLDER));
  const machine = hostname();
  const own = new DatabaseSync(prepareStateFile(folder, fileName(id)).path, { timeout: 0 });
  own.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  const remove = (instance: string): void => {
    if (isId(instance)) rmSync(join(folder, fileName(instance)), { force: true });
  };
  return {
    self: { pid: process.pid, processStart: "", machine },
    isAlive(instance, now) {
      if (instance.machine !== machine) return instance.leaseUntil > now || isLocked(folder, instance.id);
      return isLocked(folder, instance.id);
    },
    forget: remove,
    close() {
      own.close();
      remove(id);
    },
  };
}

function isLocked(folder: string, id: string): boolean {
  // An id that is no file name was not made by us: nothing stands for it.
  if (!isId(id)) return false;
  let file: InstanceType<typeof DatabaseSync> | undefined;
  try {
    file = new DatabaseSync(join(folder, fileName(id)), { readOnly: true, timeout: 0 });
    file.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    file?.close();
  }
}

function isId(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id);
}

function fileName(id: string): string {
  return `${id}.lock`;
}
