/**
 * The `sql` guard: one statement that only reads, calls only functions of a list, and gives at most `maxRows` rows. The
 * statement is judged on its syntax tree; what the tree's walker does not know is refused. The row cap is put in by
 * rewriting, and the rewritten text is parsed again and compared with the first tree before it passes.
 *
 * A guard is not a permission: run the statement under a read-only role with a time-out all the same.
 */
import type { JsonValue } from "../../base/json.ts";
import { ALLOWED, denied, type ValueVerdict } from "./verdict.ts";

export type SqlDialect = "postgresql" | "mysql" | "sqlite";

/** What a dialect found out about one statement. */
export type SqlReading =
  | { readonly kind: "denied"; readonly reason: string }
  /** It reads; `capped` is the text with the row cap, the given one where it had one. */
  | { readonly kind: "reads"; readonly capped: string };

const MAX_BYTES = 100_000;
// Parsers and servers disagree about these, and no query needs them.
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** @throws what a parser throws for reasons of its own: the guard has then failed, which denies. */
export async function checkSql(
  value: JsonValue,
  dialect: SqlDialect,
  maxRows: number,
): Promise<ValueVerdict> {
  if (typeof value !== "string") return denied("it is not a text");
  if (value.includes("\0")) return denied("it holds a NUL character, behind which parsers see nothing");
  if (Buffer.byteLength(value) > MAX_BYTES) return denied(`it is longer than ${MAX_BYTES} bytes`);
  if (CONTROL.test(value) || !value.isWellFormed()) return denied("it holds control characters");
  // With `standard_conforming_strings` off, or in another SQL mode, such a quote ends the text or does not.
  if (/\\['"]/.test(value))
    return denied(
      "a back slash before a quote means different things to different servers: double the quote instead",
    );
  const reading = await read(value, dialect, maxRows);
  if (reading.kind === "denied") return denied(reading.reason);
  if (reading.capped === value) return ALLOWED;
  return { kind: "rewrite", after: reading.capped, reason: `limited to ${maxRows} rows` };
}

/** The parsers are heavy, so each is loaded when its first statement comes. */
async function read(sql: string, dialect: SqlDialect, maxRows: number): Promise<SqlReading> {
  if (dialect === "postgresql") {
    const { readPostgresql } = await import("./sql-postgresql.ts");
    return readPostgresql(sql, maxRows);
  }
  const { readOtherSql } = await import("./sql-other.ts");
  return readOtherSql(sql, dialect, maxRows);
}
