/** Reading records: one page by a filter, or all of them page by page. */
import type { SQLInputValue } from "node:sqlite";
import type { JsonObject } from "../base/json.ts";
import type { Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn, type Row } from "./sqlite-rows.ts";
import type { RecordFilter, StoredRecord } from "./store.ts";

const DEFAULT_LIMIT = 1_000;
const SCAN_PAGE = 500;

const SELECT = `
  SELECT r.id, c.writer, r.sequence, r.call_id, r.kind, r.at, r.body, r.previous_hash, r.hash
  FROM records r JOIN chains c ON c.id = r.chain`;

/** One page, at most `filter.limit` records. */
export function queryRecords(connection: Connection, filter: RecordFilter): StoredRecord[] {
  const { conditions, values } = toConditions(filter, "r.at");
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const order = filter.newestFirst === true ? "DESC" : "ASC";
  const limit = Math.max(0, Math.floor(filter.limit ?? DEFAULT_LIMIT));
  const rows = connection.all(
    `${SELECT} ${where} ORDER BY ${orderOf(filter)} ${order} LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map(toRecord);
}

/** All that match, oldest first. `read` runs one page; between pages others may write. */
export async function* scanRecords(
  connection: Connection,
  filter: RecordFilter,
  read: <T>(work: () => T) => Promise<T>,
): AsyncGenerator<StoredRecord> {
  // The plus keeps SQLite from the index of times, with which it would sort everything anew for each page.
  const { conditions, values } = toConditions(filter, "+r.at");
  const order = orderOf(filter);
  const sql = `${SELECT} WHERE ${[`${order} > ?`, ...conditions].join(" AND ")} ORDER BY ${order} LIMIT ${SCAN_PAGE}`;
  let after = 0;
  for (;;) {
    const rows = await read(() => connection.all(sql, after, ...values));
    for (const row of rows) yield toRecord(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < SCAN_PAGE) return;
    after = integerColumn(last, order === "r.id" ? "id" : "sequence");
  }
}

/** The order of commitment. Inside one chain the sequence is the same order, and has an index of its own. */
function orderOf(filter: RecordFilter): "r.id" | "r.sequence" {
  return filter.writer === undefined ? "r.id" : "r.sequence";
}

function toConditions(
  filter: RecordFilter,
  at: "r.at" | "+r.at",
): { conditions: string[]; values: SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add("r.call_id = ?", filter.callId);
  add("r.chain = (SELECT id FROM chains WHERE writer = ?)", filter.writer);
  add("r.sequence >= ?", filter.fromSequence);
  // A list in one value, so that there is one statement to keep and not one per length.
  add(
    "r.kind IN (SELECT value FROM json_each(?))",
    filter.kinds === undefined ? undefined : JSON.stringify(filter.kinds),
  );
  add(`${at} >= ?`, filter.fromMs);
  add(`${at} <= ?`, filter.toMs);
  add("r.server = ?", filter.server);
  add("r.tool = ?", filter.tool);
  add("r.principal = ?", filter.principal);
  return { conditions, values };
}

function toRecord(row: Row): StoredRecord {
  return {
    writer: textColumn(row, "writer"),
    sequence: integerColumn(row, "sequence"),
    callId: textColumn(row, "call_id"),
    kind: textColumn(row, "kind"),
    at: integerColumn(row, "at"),
    body: JSON.parse(textColumn(row, "body")) as JsonObject,
    previousHash: textColumn(row, "previous_hash"),
    hash: textColumn(row, "hash"),
  };
}
