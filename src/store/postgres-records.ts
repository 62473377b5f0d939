/**
 * Records on PostgreSQL: this process's own hash chain, appended to in groups, and queries over all chains. Invariants:
 * - an append only queues; it is serialised just before the transaction, and chained to the head that is known;
 * - the head moves in memory after the commit, and is read again from the database after a failure; the database takes a group
 *   only where the chain ends as this process knows it, so that nothing is ever written twice or in between;
 * - one record that cannot be serialised fails alone.
 */
import { PortcullisError } from "../errors.ts";
import { toStoredKey } from "./key-text.ts";
import { createPostgresChains } from "./postgres-chains.ts";
import type { Committer, CommitTask, Transaction } from "./postgres-commit.ts";
import type { Database } from "./postgres-connection.ts";
import { fromPostgresError } from "./postgres-errors.ts";
import { pruneChains } from "./postgres-prune.ts";
import { queryRecords, scanRecords } from "./postgres-query.ts";
import { FIRST_PREVIOUS_HASH } from "./record-hash.ts";
import { createRecordQueue, type RecordGroup } from "./record-queue.ts";
import {
  prepareEntry,
  toChainHead,
  toRecordRow,
  type ChainEnd,
  type RecordEntry,
  type RecordRow,
} from "./record-rows.ts";
import { integerColumn, textColumn, wholeMs } from "./rows.ts";
import type { Records } from "./store.ts";
import { verifyChains } from "./verify.ts";

export interface PostgresRecordsOptions {
  readonly database: Database;
  readonly committer: Committer;
  /** The id of this process's instance: the writer of its chain. */
  readonly writer: string;
}

/** Also what `watch` calls them. */
const RECORDS_TOPIC = "records";

const SELECT_CHAIN = "SELECT id, sequence, hash FROM chains WHERE writer = $1";
const INSERT_CHAIN = `
  INSERT INTO chains (writer, sequence, hash, pruned_to, pruned_hash)
  VALUES ($1, 0, '${FIRST_PREVIOUS_HASH}', 0, '${FIRST_PREVIOUS_HASH}') RETURNING id, sequence, hash`;
const UPDATE_CHAIN = `
  UPDATE chains SET sequence = $1, hash = $2 WHERE id = $3 AND writer = $4 AND sequence = $5 AND hash = $6 RETURNING id`;
const INSERT_RECORDS = `
  INSERT INTO records (chain, sequence, call_id, kind, at, server, tool, principal, body, previous_hash, hash)
  SELECT $1::bigint, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[])`;
const INSERT_OPEN = `
  INSERT INTO open_calls (call_id, chain) SELECT DISTINCT unnest($1::text[]), $2::bigint ON CONFLICT DO NOTHING`;
const DELETE_OPEN = "DELETE FROM open_calls WHERE call_id = ANY ($1::text[])";
const SELECT_OPEN = `
  SELECT call_id, writer FROM open_calls JOIN chains ON chains.id = open_calls.chain ORDER BY chains.id, call_id COLLATE "C"`;

interface Head extends ChainEnd {
  readonly chain: number;
}

export function createPostgresRecords(options: PostgresRecordsOptions): Records {
  const { database, committer, writer } = options;
  let head: Head | undefined;

  const createTask = (group: RecordGroup): CommitTask => {
    let newHead: Head | undefined;
    return {
      topics: [RECORDS_TOPIC],
      isDurable: () => group.isDurable,
      prepare() {
        queue.close(group);
        for (const entry of group.entries) prepareEntry(entry);
      },
      async work(transaction, touch) {
        newHead = await writeEntries(
          transaction,
          group.entries,
          head ?? (await readHead(transaction, writer)),
          writer,
        );
        touch(RECORDS_TOPIC);
      },
      committed() {
        head = newHead;
        for (const entry of group.entries) entry.resolve();
      },
      failed(error) {
        queue.close(group);
        head = undefined;
        const told = fromPostgresError(error, database.label, "audit_unavailable");
        for (const entry of group.entries) entry.reject(told);
      },
    };
  };

  const queue = createRecordQueue(
    (group, isUrgent) => committer.add(createTask(group), isUrgent ? "tick" : "batch"),
    committer.hasten,
  );
  const chains = createPostgresChains(database);

  return {
    append: queue.append,

    // What this process has appended is seen by what it reads next: `settle` comes first everywhere.
    async query(filter) {
      await committer.settle();
      return queryRecords(database, filter);
    },

    async *scan(filter) {
      await committer.settle();
      yield* scanRecords(database, filter);
    },

    async listOpen() {
      await committer.settle();
      return database.read(SELECT_OPEN, [], (row) => ({
        callId: textColumn(row, "call_id"),
        writer: textColumn(row, "writer"),
      }));
    },

    async heads() {
      await committer.settle();
      return database.read(
        "SELECT writer, sequence, hash, pruned_to FROM chains ORDER BY id",
        [],
        toChainHead,
      );
    },

    async verify(only) {
      await committer.settle();
      return verifyChains(chains, only);
    },

    prune: (beforeMs) => pruneChains(database, committer, wholeMs(beforeMs), writer),
  };
}

async function readHead(transaction: Transaction, writer: string): Promise<Head> {
  const [found] = await transaction.query(SELECT_CHAIN, [writer]);
  const row = found ?? (await transaction.query(INSERT_CHAIN, [writer]))[0] ?? {};
  return {
    chain: integerColumn(row, "id"),
    sequence: integerColumn(row, "sequence"),
    hash: textColumn(row, "hash"),
  };
}

async function writeEntries(
  transaction: Transaction,
  entries: readonly RecordEntry[],
  from: Head,
  writer: string,
): Promise<Head> {
  const { chain } = from;
  const rows: RecordRow[] = [];
  let end: ChainEnd = from;
  for (const entry of entries) {
    const row = toRecordRow(entry, writer, end);
    if (row === undefined) continue;
    rows.push(row);
    end = row;
  }
  const opened = rows.filter(({ kind }) => kind === "opened").map(({ callId }) => callId);
  const closed = rows.filter(({ kind }) => kind === "closed").map(({ callId }) => callId);
  const values = [end.sequence, end.hash, chain, writer, from.sequence, from.hash];
  const [moved] = await Promise.all([
    transaction.query(UPDATE_CHAIN, values),
    transaction.query(INSERT_RECORDS, [chain, ...toColumns(rows)]),
    ...(opened.length === 0 ? [] : [transaction.query(INSERT_OPEN, [opened, chain])]),
    ...(closed.length === 0 ? [] : [transaction.query(DELETE_OPEN, [closed])]),
  ]);
  // Somebody took this writer for dead and pruned its chain: the next append begins a new one.
  if (moved.length !== 1)
    throw new PortcullisError("audit_unavailable", `the chain of writer \`${writer}\` is gone`);
  return { chain, sequence: end.sequence, hash: end.hash };
}

/** In the order of `INSERT_RECORDS`. */
function toColumns(rows: readonly RecordRow[]): readonly unknown[][] {
  // They come from bodies and may hold anything; a filter is written in the same way.
  const stored = (text: string | null): string | null => (text === null ? null : toStoredKey(text));
  return [
    rows.map(({ sequence }) => sequence),
    rows.map(({ callId }) => callId),
    rows.map(({ kind }) => kind),
    rows.map(({ at }) => at),
    rows.map(({ server }) => stored(server)),
    rows.map(({ tool }) => stored(tool)),
    rows.map(({ principal }) => stored(principal)),
    rows.map(({ bodyText }) => bodyText),
    rows.map(({ previousHash }) => previousHash),
    rows.map(({ hash }) => hash),
  ];
}
