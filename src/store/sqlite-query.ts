/**
 * Reading records, in the order of commitment. A log of millions is walked in steps, each of which looks at a bounded number
 * of rows and takes a bounded number of them, so that a filter that hardly anything fits holds up nobody.
 */
import type { SQLInputValue } from "node:sqlite";
import type { Connection } from "./sqlite-connection.ts";
import { toStoredRecord } from "./record-rows.ts";
import { integerColumn, optionalIntegerColumn } from "./rows.ts";
import type { RecordFilter, StoredRecord } from "./store.ts";

const DEFAULT_LIMIT = 1_000;
/** Rows that one step takes at most. */
const TAKEN_PER_STEP = 500;
/** Rows that one step looks at, at most. */
const SEEN_PER_STEP = 20_000;

const COLUMNS = "r.id, c.writer, r.sequence, r.call_id, r.kind, r.at, r.body, r.previous_hash, r.hash";

type Read = <T>(work: () => T) => Promise<T>;

/** At most `filter.limit` records. @param read runs one step; between steps others may write. */
export async function queryRecords(
  connection: Connection,
  filter: RecordFilter,
  read: Read,
): Promise<StoredRecord[]> {
  const limit = Math.max(0, Math.floor(filter.limit ?? DEFAULT_LIMIT));
  const found: StoredRecord[] = [];
  if (limit === 0) return found;
  for await (const record of walk(connection, filter, filter.newestFirst === true, limit, read)) {
    found.push(record);
    if (found.length === limit) break;
  }
  return found;
}

/** All that match, oldest first. */
export function scanRecords(
  connection: Connection,
  filter: RecordFilter,
  read: Read,
): AsyncGenerator<StoredRecord> {
  return walk(connection, filter, false, Number.POSITIVE_INFINITY, read);
}

/** How the rows are reached: what orders them, which part of that order holds all that match, and how wide a step is. */
interface Route {
  readonly from: string;
  readonly order: "r.id" | "r.sequence";
  readonly first: number;
  readonly last: number;
  readonly stepWidth: number;
}

async function* walk(
  connection: Connection,
  filter: RecordFilter,
  isDescending: boolean,
  wanted: number,
  read: Read,
): AsyncGenerator<StoredRecord> {
  const { from, order, first, last, stepWidth } = await read(() => chooseRoute(connection, filter));
  const { conditions, values } = toConditions(filter);
  const taken = Math.min(wanted, TAKEN_PER_STEP);
  const sql =
    `SELECT ${COLUMNS} ${from} WHERE ${[...conditions, `${order} BETWEEN ? AND ?`].join(" AND ")} ` +
    `ORDER BY ${order} ${isDescending ? "DESC" : "ASC"} LIMIT ?`;
  let low = first;
  let high = last;
  for (let isFirstStep = true; low <= high; isFirstStep = false) {
    if (!isFirstStep) await new Promise<void>((resolve) => setImmediate(resolve));
    const stepLow = isDescending ? Math.max(low, high - stepWidth) : low;
    const stepHigh = isDescending ? high : Math.min(high, low + stepWidth);
    const { records, lastRow } = await read(() => {
      const rows = connection.all(sql, ...values, stepLow, stepHigh, taken);
      return {
        records: rows.map(toStoredRecord),
        lastRow: rows.length === taken ? rows.at(-1) : undefined,
      };
    });
    yield* records;
    const at =
      lastRow === undefined ? undefined : integerColumn(lastRow, order === "r.id" ? "id" : "sequence");
    if (isDescending) high = (at ?? stepLow) - 1;
    else low = (at ?? stepHigh) + 1;
  }
}

const FROM = "FROM records r JOIN chains c ON c.id = r.chain";
const FROM_BY_TIME = "FROM records r INDEXED BY records_by_time JOIN chains c ON c.id = r.chain";
const COUNT_IN_TIME = `
  SELECT count(*) AS count FROM (SELECT 1 FROM records WHERE at >= ? AND at <= ? LIMIT ${SEEN_PER_STEP})`;

function chooseRoute(connection: Connection, filter: RecordFilter): Route {
  const { callId, writer, fromMs, toMs } = filter;
  if (writer !== undefined) {
    const { first, last } = readBounds(connection, SEQUENCE_BOUNDS, writer);
    return { from: FROM, order: "r.sequence", first, last, stepWidth: SEEN_PER_STEP };
  }
  const { first, last } = readBounds(connection, ID_BOUNDS);
  const inOneStep: Route = { from: FROM, order: "r.id", first, last, stepWidth: last };
  // A call has few records, and an index that finds them.
  if (callId !== undefined && callId !== "") return inOneStep;
  if (fromMs !== undefined || toMs !== undefined) {
    const counted = connection.get(COUNT_IN_TIME, fromMs ?? 0, toMs ?? Number.MAX_SAFE_INTEGER);
    if (integerColumn(counted ?? {}, "count") < SEEN_PER_STEP) return { ...inOneStep, from: FROM_BY_TIME };
  }
  return { ...inOneStep, stepWidth: SEEN_PER_STEP };
}

const ID_BOUNDS = "SELECT (SELECT min(id) FROM records) AS first, (SELECT max(id) FROM records) AS last";
const SEQUENCE_BOUNDS = "SELECT pruned_to + 1 AS first, sequence AS last FROM chains WHERE writer = ?";

/** Where there is nothing the last comes before the first. */
function readBounds(
  connection: Connection,
  sql: string,
  ...values: readonly string[]
): { first: number; last: number } {
  const row = connection.get(sql, ...values);
  if (row === undefined) return { first: 1, last: 0 };
  return { first: optionalIntegerColumn(row, "first") ?? 1, last: optionalIntegerColumn(row, "last") ?? 0 };
}

function toConditions(filter: RecordFilter): { conditions: string[]; values: SQLInputValue[] } {
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
  add("r.at >= ?", filter.fromMs);
  add("r.at <= ?", filter.toMs);
  add("r.server = ?", filter.server);
  add("r.tool = ?", filter.tool);
  add("r.principal = ?", filter.principal);
  return { conditions, values };
}
