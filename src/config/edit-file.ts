/**
 * Applies an edit to a configuration file: all of it or nothing (a temporary file beside it, then a rename), the mode kept, links
 * followed. Refused where the file is not what the caller saw, where somebody else is writing it, or where the result would be
 * no valid configuration.
 */
import { open, realpath, rename, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { PortcullisError } from "../errors.ts";
import { checkConfig } from "./check.ts";
import type { ConfigEdit } from "./edit.ts";
import { parseConfigBytes } from "./jsonc.ts";
import { digestBytes, readConfigFile } from "./load.ts";
import { configError, placeProblem } from "./problems.ts";

export interface AppliedEdit {
  /** Real path of the file that was written. */
  readonly file: string;
  /** Hex SHA-256 of its bytes before and after; the same where nothing had to be changed. */
  readonly before: string;
  readonly after: string;
}

/**
 * Edits `file`.
 *
 * @param seenDigest digest of the bytes that the caller decided on (`Config.digest`), or `null` for whatever is there now.
 * @throws PortcullisError `config_changed` where the file is not (or is no longer) that, or is being edited; `config_not_found`;
 * `config_invalid` where it is broken or would be; what `edit` throws.
 */
export async function editConfigFile(
  file: string,
  edit: ConfigEdit,
  seenDigest: string | null,
): Promise<AppliedEdit> {
  const target = await realpath(file).catch(() => file);
  const lock = await takeLock(`${target}.lock`);
  try {
    const { bytes, mode } = await readConfigFile(target);
    const before = digestBytes(bytes);
    if (seenDigest !== null && before !== seenDigest) throw changed(target);
    requireValid(bytes, target);
    const edited = Buffer.from(edit(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
    const after = digestBytes(edited);
    if (after === before) return { file: target, before, after };
    requireValid(edited, target);
    await replaceFile(target, edited, mode, before);
    return { file: target, before, after };
  } finally {
    await lock.release();
  }
}

/** An unfinished text would be repaired by guessing; an invalid result would stop the next start. */
function requireValid(bytes: Uint8Array, file: string): void {
  const parsed = parseConfigBytes(bytes);
  if (parsed.problems.length > 0) {
    const problems = parsed.problems.map((problem) => placeProblem(problem, file, () => problem));
    throw configError("config_invalid", problems);
  }
  const checked = checkConfig(parsed.value);
  if (checked.ok || checked.problems.every((problem) => problem.code === "config_not_yet")) return;
  throw configError(
    "config_invalid",
    checked.problems.map((problem) => placeProblem(problem, file, parsed.positions)),
  );
}

async function replaceFile(target: string, bytes: Uint8Array, mode: number, before: string): Promise<void> {
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(bytes);
      // The mode that `open` takes is cut by the umask.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // An editor does not know our lock: look once more, just before the rename.
    const { bytes: now } = await readConfigFile(target);
    if (digestBytes(now) !== before) throw changed(target);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error instanceof PortcullisError ? error : unwritable(temporary, error);
  }
}

function unwritable(file: string, error: unknown): PortcullisError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return new PortcullisError(
    "usage",
    `\`${file}\` cannot be written (${code}): may you change this folder?`,
    { cause: error },
  );
}

function changed(file: string): PortcullisError {
  return new PortcullisError("config_changed", `\`${file}\` was changed meanwhile: nothing was written`);
}

/** A lock file beside the configuration that holds the pid of its owner; one whose owner is gone is taken over. */
async function takeLock(lockFile: string): Promise<{ release(): Promise<void> }> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const handle = await createExclusively(lockFile);
    if (handle !== null) {
      try {
        await handle.writeFile(String(process.pid));
      } finally {
        await handle.close();
      }
      return { release: () => rm(lockFile, { force: true }) };
    }
    const owner = await readOwner(lockFile);
    if (owner !== null && isAlive(owner)) break;
    await rm(lockFile, { force: true });
  }
  throw new PortcullisError(
    "config_changed",
    `the configuration is being edited by somebody else: try again, or remove \`${lockFile}\` if nobody is`,
  );
}

async function createExclusively(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") return null;
    throw unwritable(file, error);
  }
}

async function readOwner(lockFile: string): Promise<number | null> {
  try {
    const handle = await open(lockFile, "r");
    try {
      const text = await handle.readFile("utf8");
      // Empty for the instant between creation and writing: then its owner lives.
      return text === "" ? process.pid : Number.parseInt(text, 10);
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user: it lives.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
