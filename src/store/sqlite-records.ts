/**
 * Records: this process's own hash chain, appended to in groups, and queries over all chains. Invariants:
 * - an append only queues; it is serialised just before the transaction and hashed inside it;
 * - the head of the chain moves in memory after the commit, and is read again from the file after a failure;
 * - one record that cannot be serialised fails alone.
 */
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { FIRST_PREVIOUS_HASH } from "./record-hash.ts";
import { createRecordQueue, type RecordGroup } from "./record-queue.ts";
import { prepareEntry, toChainHead, toRecordRow, type ChainEnd, type RecordEntry } from "./record-rows.ts";
import type { Committer, CommitTask, Touch } from "./sqlite-commit.ts";
import { createSqliteChains } from "./sqlite-chains.ts";
import { fromSqliteError } from "./sqlite-errors.ts";
import { pruneChains } from "./sqlite-prune.ts";
import { queryRecords, scanRecords } from "./sqlite-query.ts";
import { integerColumn, textColumn, wholeMs } from "./rows.ts";
import { verifyChains } from "./verify.ts";
import type { Records } from "./store.ts";

export interface SqliteRecordsOptions {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: Clock;
  /** The id of this process's instance: the writer of its chain. */
  readonly writer: string;
}

const SELECT_CHAIN = "SELECT id, sequence, hash FROM chains WHERE writer = ?";
const INSERT_CHAIN = `
  INSERT INTO chains (writer, sequence, hash, pruned_to, pruned_hash)
  VALUES (?, 0, '${FIRST_PREVIOUS_HASH}', 0, '${FIRST_PREVIOUS_HASH}') RETURNING id`;
const UPDATE_CHAIN = "UPDATE chains SET sequence = ?, hash = ? WHERE id = ? AND writer = ? AND sequence = ?";
const INSERT_RECORD = `
  INSERT INTO records (chain, sequence, call_id, kind, at, server, tool, principal, body, previous_hash, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_OPEN = "INSERT OR IGNORE INTO open_calls (call_id, chain) VALUES (?, ?)";
const DELETE_OPEN = "DELETE FROM open_calls WHERE call_id = ?";

interface Head extends ChainEnd {
  readonly chain: number;
}

export function createSqliteRecords(options: SqliteRecordsOptions): Records {
  const { connection, committer, clock, writer } = options;
  let head: Head | undefined;
  const readHead = (): Head => {
    const row = connection.get(SELECT_CHAIN, writer);
    if (row !== undefined) {
      return {
        chain: integerColumn(row, "id"),
        sequence: integerColumn(row, "sequence"),
        hash: textColumn(row, "hash"),
      };
    }
    const made = connection.get(INSERT_CHAIN, writer);
    return { chain: integerColumn(made ?? {}, "id"), sequence: 0, hash: FIRST_PREVIOUS_HASH };
  };

  const createTask = (group: RecordGroup): CommitTask => {
    let newHead: Head | undefined;
    return {
      isDurable: () => group.isDurable,
      prepare() {
        for (const entry of group.entries) prepareEntry(entry);
      },
      work(touch) {
        queue.close(group);
        newHead = writeEntries(group.entries, head ?? readHead(), touch);
      },
      committed() {
        head = newHead;
        for (const entry of group.entries) entry.resolve();
      },
      failed(error) {
        queue.close(group);
        head = undefined;
        const told = fromSqliteError(error, connection.path, "audit_unavailable");
        for (const entry of group.entries) entry.reject(told);
      },
    };
  };

  const writeEntries = (entries: readonly RecordEntry[], from: Head, touch: Touch): Head => {
    const { chain } = from;
    let end: ChainEnd = from;
    for (const entry of entries) {
      const row = toRecordRow(entry, writer, end);
      if (row === undefined) continue;
      const { sequence, callId, kind, at, server, tool, principal, bodyText, previousHash, hash } = row;
      connection.run(
        INSERT_RECORD,
        chain,
        sequence,
        callId,
        kind,
        at,
        server,
        tool,
        principal,
        bodyText,
        previousHash,
        hash,
      );
      if (kind === "opened") connection.run(INSERT_OPEN, callId, chain);
      else if (kind === "closed") connection.run(DELETE_OPEN, callId);
      end = row;
    }
    const { sequence, hash } = end;
    const { changes } = connection.run(UPDATE_CHAIN, sequence, hash, chain, writer, from.sequence);
    // Somebody took this writer for dead and pruned its chain: the next append begins a new one.
    if (changes !== 1)
      throw new PortcullisError("audit_unavailable", `the chain of writer \`${writer}\` is gone`);
    touch("records");
    return { chain, sequence, hash };
  };

  /** What this process has appended is seen by what it reads next. */
  const settleOwn = (): void => {
    if (queue.isCollecting) committer.commitWaiting();
  };

  const queue = createRecordQueue(
    (group, isUrgent) => committer.add(createTask(group), isUrgent ? "tick" : "batch"),
    committer.hasten,
  );
  const read = <T>(work: () => T): Promise<T> => untilNotBusy(work, connection.path, clock);
  const chains = createSqliteChains(connection, read);

  return {
    append: queue.append,

    async query(filter) {
      settleOwn();
      return queryRecords(connection, filter, read);
    },

    async *scan(filter) {
      settleOwn();
      yield* scanRecords(connection, filter, read);
    },

    async listOpen() {
      settleOwn();
      return read(() =>
        connection
          .all(
            "SELECT call_id, writer FROM open_calls JOIN chains ON chains.id = open_calls.chain ORDER BY chains.id, call_id",
          )
          .map((row) => ({ callId: textColumn(row, "call_id"), writer: textColumn(row, "writer") })),
      );
    },

    async heads() {
      settleOwn();
      return read(() =>
        connection.all("SELECT writer, sequence, hash, pruned_to FROM chains ORDER BY id").map(toChainHead),
      );
    },

    async verify(only) {
      settleOwn();
      return verifyChains(chains, only);
    },

    prune: (beforeMs) => pruneChains(connection, committer, wholeMs(beforeMs), writer),
  };
}
