/**
 * The directory that holds the state: ours alone (0700), its files ours alone (0600). A directory of somebody else, or
 * one that others may write, is refused, because whoever writes it could approve calls.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errnoReason } from "../base/errno.ts";
import { makeFolder } from "../base/make-folder.ts";
import { PortcullisError } from "../errors.ts";

/** The database in a state directory. */
export const STATE_FILE = "state.db";

const GROUP_OR_OTHERS = 0o077;
const GROUP_OR_OTHERS_WRITE = 0o022;

/** Windows has neither owners by number nor mode bits; there the user's profile protects the directory. */
const hasModes = process.getuid !== undefined;

/**
 * Makes `dir` where it is missing and makes sure that it is ours alone.
 *
 * @returns its absolute path.
 * @throws `state_unusable` where it is not a directory, belongs to somebody else, or may be written by others.
 */
export function prepareStateDirectory(dir: string): string {
  const path = resolve(dir);
  try {
    makeFolder(path, 0o700);
    const found = statSync(path);
    if (!found.isDirectory())
      throw new PortcullisError("state_unusable", `state \`${path}\` is not a directory`);
    if (hasModes) {
      refuseStranger(path, found.uid);
      if ((found.mode & GROUP_OR_OTHERS_WRITE) !== 0) {
        throw new PortcullisError(
          "state_unusable",
          `state directory \`${path}\` may be written by others: make it yours alone with \`chmod 700\`, or name another`,
          { data: { path, mode: (found.mode & 0o777).toString(8) } },
        );
      }
      if ((found.mode & GROUP_OR_OTHERS) !== 0) chmodSync(path, 0o700);
    }
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw unusable(`state directory \`${path}\` cannot be used`, error);
  }
}

/**
 * Whether `dir` could be used or made, without changing anything.
 *
 * @returns whether it is there.
 * @throws `state_unusable` where it cannot; who owns it and who may write it is not asked.
 */
export function lookForStateDirectory(dir: string): boolean {
  const path = resolve(dir);
  try {
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    let folder = path;
    while (!isThere && lstatSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
    if (!statSync(folder).isDirectory())
      throw new PortcullisError(
        "state_unusable",
        `state \`${path}\` cannot be used: \`${folder}\` is not a directory`,
      );
    accessSync(folder, (isThere ? constants.R_OK : 0) | constants.W_OK | constants.X_OK);
    return isThere;
  } catch (error) {
    throw unusable(`state directory \`${path}\` cannot be used`, error);
  }
}

/**
 * Makes an empty file `name` in `dir` with mode 0600 where there is none, so that SQLite, which gives its log files the
 * mode of the database, never makes one that others may read.
 *
 * An existing file is looked at but never opened: closing any handle of it would drop the locks that another store of
 * this process holds on it (POSIX), and SQLite would then take a living store for gone.
 *
 * @returns its path, and whether it was made now.
 * @throws `state_unusable` where something else than a file of ours is there.
 */
export function prepareStateFile(
  dir: string,
  name: string,
): { readonly path: string; readonly isNew: boolean } {
  const path = join(dir, name);
  try {
    const isNew = createFile(path);
    const found = lstatSync(path);
    if (!found.isFile()) throw new PortcullisError("state_unusable", `state \`${path}\` is not a file`);
    if (hasModes) {
      refuseStranger(path, found.uid);
      if ((found.mode & GROUP_OR_OTHERS) !== 0) chmodSync(path, 0o600);
    }
    // Asked before SQLite is: it gives its log files the mode of the database, and would leave some that nobody can write.
    accessSync(path, constants.R_OK | constants.W_OK);
    return { path, isNew };
  } catch (error) {
    throw unusable(`state file \`${path}\` cannot be used`, error);
  }
}

function unusable(what: string, cause: unknown): PortcullisError {
  if (cause instanceof PortcullisError) return cause;
  return new PortcullisError("state_unusable", `${what}: ${errnoReason(cause)}`, { cause });
}

function createFile(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Makes the names in `dir`, and its own name, survive a power cut. */
export function syncDirectory(dir: string): void {
  if (!hasModes) return;
  for (const path of [dir, dirname(dir)]) {
    try {
      const handle = openSync(path, "r");
      try {
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
    } catch {
      // Some file systems refuse to sync a directory, and the parent may be unreadable: nothing better can be done.
    }
  }
}

function refuseStranger(path: string, uid: number): void {
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  throw new PortcullisError(
    "state_unusable",
    `state \`${path}\` belongs to another user: name one of your own`,
    {
      data: { path, owner: uid },
    },
  );
}
