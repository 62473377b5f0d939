/** Files that people name: opened without waiting for what is none, and told apart from it. */
import { constants, type Stats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

/** Opens `path` for reading. Opening a pipe would wait for its writer, so nothing is waited for: ask `describeNoFile` first. */
export function openForReading(path: string): Promise<FileHandle> {
  // Windows knows no such flag, and no such pipes in its file system.
  return open(path, constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0));
}

/** What it is instead of a file, as the end of a sentence; `undefined` for a file. */
export function describeNoFile(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return "is a folder and no file";
  if (stats.isFIFO()) return "is a pipe and no file";
  if (stats.isSocket()) return "is a socket and no file";
  return "is a device and no file";
}

/** Why a file could not be read, with the fix where it is known, as the end of a sentence. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return `cannot be read (${code})${FIXES[code] ?? ""}`;
}

const OWNER = ": look at its owner and its mode, and at those of the folders above it";

const FIXES: Readonly<Record<string, string>> = {
  EACCES: OWNER,
  EPERM: OWNER,
  ELOOP: ": it is a link that leads to itself",
  ENAMETOOLONG: ": its name is too long",
};
