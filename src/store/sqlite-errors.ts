/** The edge between SQLite's result codes and our error table (https://www.sqlite.org/rescode.html). */
import { PortcullisError } from "../errors.ts";
import { RowFault } from "./rows.ts";

const START_ANEW =
  "put a copy back, or move it away with its `-wal` and `-shm` files to begin a new state without its records";

/** What the primary result codes that a store can meet mean to a person. */
const reasons: ReadonlyMap<number, string> = new Map([
  [3, "it may not be accessed"],
  [5, "another process held it for too long"],
  [6, "another process held it for too long"],
  [8, "it is read-only"],
  [10, "the disk reported an error"],
  [11, damagedReason()],
  [13, "the disk is full"],
  [14, "it cannot be opened"],
  [26, `it is not a state file of Portcullis, or not any more: ${START_ANEW}`],
]);

/** Extended result codes that say more than their primary one. */
const extendedReasons: ReadonlyMap<number, string> = new Map([
  // SQLITE_IOERR_SHMSIZE: the index of the log could not be made larger.
  [4874, "the disk is full"],
]);

/** Why a file cannot be read any more, and what to do. @param detail what was found, where more is known. */
export function damagedReason(detail?: string): string {
  return `it is damaged${detail === undefined ? "" : ` (${detail})`}: ${START_ANEW}`;
}

const BUSY = 5;
const LOCKED = 6;

/** The primary result code of an error of `node:sqlite`; `undefined` for any other error. */
function sqliteResultCode(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode & 0xff : undefined;
}

/** True where somebody else has the lock for the moment: the same again later may work. */
export function isBusy(error: unknown): boolean {
  const code = sqliteResultCode(error);
  return code === BUSY || code === LOCKED;
}

/** `error` as one of ours: itself where it is ours already, `code` with the reason for what SQLite reports. */
export function fromSqliteError(
  error: unknown,
  path: string,
  code: "state_unusable" | "audit_unavailable" = "state_unusable",
): PortcullisError {
  if (error instanceof PortcullisError && (error.code !== "state_unusable" || code === "state_unusable"))
    return error;
  if (error instanceof PortcullisError)
    return new PortcullisError(code, error.message, { cause: error, data: error.data });
  const resultCode = sqliteResultCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const told = error instanceof RowFault ? damagedReason(message) : message;
  const extended = resultCode === undefined ? undefined : (error as { errcode: number }).errcode;
  const reason = extendedReasons.get(extended ?? 0) ?? reasons.get(resultCode ?? 0) ?? told;
  return new PortcullisError(code, `state \`${path}\` is not usable: ${reason}`, {
    cause: error,
    data: { path, resultCode: resultCode ?? null },
  });
}
