/**
 * Reading records on PostgreSQL, in the order of commitment. A log of millions is walked in steps, each of which looks at a
 * bounded number of rows and takes a bounded number of them, so that a filter that hardly anything fits meets no time limit.
 */
import { toStoredKey } from "./key-text.ts";
import type { Database } from "./postgres-connection.ts";
import { toStoredRecord } from "./record-rows.ts";
import { integerColumn, optionalIntegerColumn, type Row } from "./rows.ts";
import type { RecordFilter, StoredRecord } from "./store.ts";

const DEFAULT_LIMIT = 1_000;
/** Rows that one step takes at most. */
const TAKEN_PER_STEP = 500;
/** Rows that one step looks at, at most. */
const SEEN_PER_STEP = 100_000;

/** At most `filter.limit` records. */
export async function queryRecords(database: Database, filter: RecordFilter): Promise<StoredRecord[]> {
  const limit = Math.max(0, Math.floor(filter.limit ?? DEFAULT_LIMIT));
  const found: StoredRecord[] = [];
  if (limit === 0) return found;
  for await (const record of walk(database, filter, filter.newestFirst === true, limit)) {
    found.push(record);
    if (found.length === limit) break;
  }
  return found;
}

/** All that match, oldest first. */
export function scanRecords(database: Database, filter: RecordFilter): AsyncGenerator<StoredRecord> {
  return walk(database, filter, false, Number.POSITIVE_INFINITY);
}

async function* walk(
  database: Database,
  filter: RecordFilter,
  isDescending: boolean,
  wanted: number,
): AsyncGenerator<StoredRecord> {
  const order = filter.writer === undefined ? "id" : "sequence";
  const { conditions, values } = toConditions(filter);
  const taken = Math.min(wanted, TAKEN_PER_STEP);
  const at = values.length;
  const sql =
    `SELECT r.id, c.writer, r.sequence, r.call_id, r.kind, r.at, r.body, r.previous_hash, r.hash ` +
    `FROM records r JOIN chains c ON c.id = r.chain ` +
    `WHERE ${[...conditions, `r.${order} BETWEEN $${at + 1} AND $${at + 2}`].join(" AND ")} ` +
    `ORDER BY r.${order} ${isDescending ? "DESC" : "ASC"} LIMIT $${at + 3}`;
  let { low, high } = await readBounds(database, filter.writer);
  // A call has few records, and an index that finds them.
  const width = filter.callId === undefined || filter.callId === "" ? SEEN_PER_STEP : high;
  while (low <= high) {
    const stepLow = isDescending ? Math.max(low, high - width) : low;
    const stepHigh = isDescending ? high : Math.min(high, low + width);
    const page = await database.read(sql, [...values, stepLow, stepHigh, taken], (row) => ({
      record: toStoredRecord(row),
      place: integerColumn(row, order),
    }));
    for (const { record } of page) yield record;
    const last = page.length === taken ? page.at(-1)?.place : undefined;
    if (isDescending) high = (last ?? stepLow) - 1;
    else low = (last ?? stepHigh) + 1;
  }
}

const ID_BOUNDS = "SELECT (SELECT min(id) FROM records) AS first, (SELECT max(id) FROM records) AS last";
const SEQUENCE_BOUNDS = "SELECT pruned_to + 1 AS first, sequence AS last FROM chains WHERE writer = $1";

/** Where there is nothing the last comes before the first. */
async function readBounds(
  database: Database,
  writer: string | undefined,
): Promise<{ low: number; high: number }> {
  const fromRow = (row: Row): { low: number; high: number } => ({
    low: optionalIntegerColumn(row, "first") ?? 1,
    high: optionalIntegerColumn(row, "last") ?? 0,
  });
  const found =
    writer === undefined
      ? await database.read(ID_BOUNDS, [], fromRow)
      : await database.read(SEQUENCE_BOUNDS, [writer], fromRow);
  return found[0] ?? { low: 1, high: 0 };
}

function toConditions(filter: RecordFilter): { conditions: string[]; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  /** `?` stands for the value, as often as it is needed. */
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replaceAll("?", `$${values.length}`));
  };
  const stored = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : toStoredKey(text);
  add("r.call_id = ?", stored(filter.callId));
  add("r.chain = (SELECT id FROM chains WHERE writer = ?)", filter.writer);
  add("r.sequence >= ?", filter.fromSequence);
  add("r.kind = ANY (?::text[])", filter.kinds);
  add("r.at >= ?", filter.fromMs);
  add("r.at <= ?", filter.toMs);
  // The index holds the beginning: the whole may be longer than an index takes.
  add("left(r.server, 100) = left(?, 100) AND r.server = ?", stored(filter.server));
  add("r.tool = ?", stored(filter.tool));
  add("left(r.principal, 100) = left(?, 100) AND r.principal = ?", stored(filter.principal));
  return { conditions, values };
}
