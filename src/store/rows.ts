/** Columns of a database's rows as typed values. Every read goes through the error edge of its store, which says which database. */
import type { JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A value of another type than was written: the state is damaged. */
export class RowFault extends TypeError {}

function wrongType(name: string): RowFault {
  return new RowFault(`column \`${name}\` holds a value of the wrong type`);
}

export function textColumn(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== "string") throw wrongType(name);
  return value;
}

export function integerColumn(row: Row, name: string): number {
  const value = row[name];
  if (typeof value !== "number") throw wrongType(name);
  return value;
}

export function jsonColumn(row: Row, name: string): JsonValue {
  const text = textColumn(row, name);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new RowFault(`column \`${name}\` holds no JSON`, { cause });
  }
}

export function optionalIntegerColumn(row: Row, name: string): number | null {
  return row[name] === null ? null : integerColumn(row, name);
}

/** A time as the state keeps it, in whole milliseconds. @throws `internal` for what is no time. */
export function wholeMs(timeMs: number): number {
  if (Number.isFinite(timeMs)) return Math.round(timeMs);
  throw new PortcullisError("internal", `\`${timeMs}\` is not a time in milliseconds`);
}
