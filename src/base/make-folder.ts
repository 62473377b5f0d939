/**
 * A folder with the folders above it. Not `recursive: true` of Node.js, which never returns where the nearest folder that exists
 * refuses with "no such file" (`/proc/x/y`).
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** @param path absolute. @throws what the file system says; `EEXIST` where something else is in the way. */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let folder = path; !exists(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Somebody else was faster.
      if (!exists(folder)) throw error;
    }
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
