/**
 * Columns of SQLite's null-prototype rows as typed values; a value of another type means a damaged file. Which file that is
 * says `fromSqliteError`, through which every read goes.
 */
import type { SQLOutputValue } from "node:sqlite";
import type { JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { damagedReason } from "./sqlite-errors.ts";

export type Row = Record<string, SQLOutputValue>;

function wrongType(name: string): TypeError {
  return new TypeError(damagedReason(`column \`${name}\` holds a value of the wrong type`));
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
    throw new TypeError(damagedReason(`column \`${name}\` holds no JSON`), { cause });
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
