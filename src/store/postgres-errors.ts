/** The edge between PostgreSQL's SQLSTATE codes, and whatever a connection can meet, and our error table. */
import { PortcullisError } from "../errors.ts";
import { RowFault } from "./rows.ts";

/** What the codes that a store can meet mean to a person (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const reasons: ReadonlyMap<string, string> = new Map([
  ["25006", "it only takes reads: name the primary server"],
  ["28000", "it does not let this role in from here: look at its pg_hba.conf"],
  ["28P01", "the password is wrong"],
  ["3D000", "there is no such database: make it with `createdb`"],
  ["42501", "the role may not do this: give it `CREATE` on the database, or a schema of its own"],
  ["42P01", "a table is missing, or the role may not use its schema"],
  ["53100", "its disk is full"],
  ["53200", "it is out of memory"],
  ["53300", "it takes no more connections"],
  ["57014", "a statement took too long"],
  ["57P01", "it ended the connection"],
  ["57P03", "it is starting up or shutting down"],
]);

/** What the refusals of a network mean. */
const networkReasons: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "its socket may not be used by this user"],
  ["EAI_AGAIN", "its name cannot be looked up now"],
  ["ECONNREFUSED", "nobody listens there"],
  ["ECONNRESET", "the connection broke"],
  ["EHOSTUNREACH", "there is no way to its host"],
  ["ENOENT", "there is no such socket"],
  ["ENOTFOUND", "its host is not known"],
  ["EPIPE", "the connection broke"],
  ["ETIMEDOUT", "it does not answer"],
]);

/** The connection is gone or not to be had; the same again on another one may work. */
const LOST = new Set(["25P03", "53300", "57P01", "57P02", "57P03", "57P05"]);
/** Deadlock, serialization: rolled back for the sake of others. */
const ROLLED_BACK = new Set(["40001", "40P01"]);
const IN_FAILED_TRANSACTION = "25P02";

/** The SQLSTATE of an error that the server reported; `undefined` for any other error. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

/** True where the connection failed, and not what was asked. */
export function isLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return LOST.has(state) || state.startsWith("08");
  // What the driver says of its socket has no code of its own; faults of ours have a class.
  return error instanceof Error && !(error instanceof PortcullisError) && !(error instanceof TypeError);
}

/** True where the same again may work: nothing of it was done. */
export function isPassing(error: unknown): boolean {
  return isLost(error) || ROLLED_BACK.has(sqlState(error) ?? "");
}

/** True for the echo of an earlier error in the same transaction. */
export function isEcho(error: unknown): boolean {
  return sqlState(error) === IN_FAILED_TRANSACTION;
}

/** `error` as one of ours: itself where it is ours already, `code` with the reason for everything else. */
export function fromPostgresError(
  error: unknown,
  label: string,
  code: "state_unusable" | "audit_unavailable" = "state_unusable",
): PortcullisError {
  if (error instanceof PortcullisError && (error.code !== "state_unusable" || code === "state_unusable"))
    return error;
  if (error instanceof PortcullisError)
    return new PortcullisError(code, error.message, { cause: error, data: error.data });
  const state = sqlState(error);
  return new PortcullisError(code, `database \`${label}\` is not usable: ${reasonOf(error, state)}`, {
    cause: error,
    data: { database: label, sqlState: state ?? null },
  });
}

function reasonOf(error: unknown, state: string | undefined): string {
  if (error instanceof RowFault) return `it is damaged (${error.message}): put a copy back`;
  const message = error instanceof Error ? error.message : String(error);
  if (state !== undefined) return reasons.get(state) ?? `${message} (${state})`;
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return networkReasons.get(code) ?? message;
}
