/** For `doctor`: reads the whole state file, where every other command reads only what it needs. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PortcullisError } from "../errors.ts";
import { damagedReason, fromSqliteError } from "./sqlite-errors.ts";
import { STATE_FILE } from "./state-directory.ts";

/** @param dir the state directory, with a state file. @throws `state_unusable` where SQLite finds the file damaged. */
export function refuseDamaged(dir: string): void {
  const path = join(dir, STATE_FILE);
  let found: unknown;
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    } finally {
      database.close();
    }
  } catch (error) {
    throw fromSqliteError(error, path);
  }
  if (found === "ok") return;
  throw new PortcullisError(
    "state_unusable",
    `state \`${path}\` is not usable: ${damagedReason(String(found).replaceAll(/\s+/g, " "))}`,
  );
}
