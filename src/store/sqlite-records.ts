/**
 * Records: this process's own hash chain, appended to in groups, and queries over all chains. Invariants:
 * - an append only queues; it is serialised just before the transaction and hashed inside it;
 * - the head of the chain moves in memory after the commit, and is read again from the file after a failure;
 * - one record that cannot be serialised fails alone.
 */
import type { JsonObject } from "../base/json.ts";
import { canonicalJson } from "../base/json.ts";
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { FIRST_PREVIOUS_HASH, hashRecord } from "./record-hash.ts";
import type { Committer, CommitTask, Touch } from "./sqlite-commit.ts";
import { fromSqliteError } from "./sqlite-errors.ts";
import { pruneChains } from "./sqlite-prune.ts";
import { queryRecords, scanRecords } from "./sqlite-query.ts";
import { integerColumn, textColumn, wholeMs } from "./sqlite-rows.ts";
import { verifyChains } from "./sqlite-verify.ts";
import type { RecordInput, Records } from "./store.ts";

export interface SqliteRecordsOptions {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: Clock;
  /** The id of this process's instance: the writer of its chain. */
  readonly writer: string;
}

/** So many waiting records are written at once, whatever the timer says: bounds memory and the pause of one commit. */
const MAX_BATCH = 500;
const MAX_NAME_CHARACTERS = 256;

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

interface Entry {
  readonly record: RecordInput;
  /** Canonical text of the body; set by `prepare`. */
  bodyText: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Head {
  readonly chain: number;
  readonly sequence: number;
  readonly hash: string;
}

const ignore = (): void => undefined;

export function createSqliteRecords(options: SqliteRecordsOptions): Records {
  const { connection, committer, clock, writer } = options;
  let head: Head | undefined;
  /** Entries that the next commit takes, and the task that stands for them in its queue. */
  let collecting: { readonly entries: Entry[]; isDurable: boolean } | undefined;

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

  const createTask = (batch: { readonly entries: Entry[]; isDurable: boolean }): CommitTask => {
    let newHead: Head | undefined;
    return {
      isDurable: () => batch.isDurable,
      prepare() {
        for (const entry of batch.entries) prepareEntry(entry);
      },
      work(touch) {
        // From here on the group is closed: what is appended next goes into the next commit.
        if (collecting === batch) collecting = undefined;
        newHead = writeEntries(batch.entries, head ?? readHead(), touch);
      },
      committed() {
        head = newHead;
        for (const entry of batch.entries) entry.resolve();
      },
      failed(error) {
        if (collecting === batch) collecting = undefined;
        head = undefined;
        const told = fromSqliteError(error, connection.path, "audit_unavailable");
        for (const entry of batch.entries) entry.reject(told);
      },
    };
  };

  const writeEntries = (entries: readonly Entry[], from: Head, touch: Touch): Head => {
    const { chain } = from;
    let { sequence, hash } = from;
    for (const { record, bodyText } of entries) {
      if (bodyText === undefined) continue;
      const { callId, kind, body } = record;
      const at = wholeMs(record.at);
      const previousHash = hash;
      sequence += 1;
      hash = hashRecord({ writer, sequence, previousHash, callId, kind, at, bodyText });
      const { server, tool, principal } = filterable(body);
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
    }
    const { changes } = connection.run(UPDATE_CHAIN, sequence, hash, chain, writer, from.sequence);
    // Somebody took this writer for dead and pruned its chain: the next append begins a new one.
    if (changes !== 1)
      throw new PortcullisError("audit_unavailable", `the chain of writer \`${writer}\` is gone`);
    touch("records");
    return { chain, sequence, hash };
  };

  /** What this process has appended is seen by what it reads next. */
  const settleOwn = (): void => {
    if (collecting !== undefined) committer.commitWaiting();
  };

  const read = <T>(work: () => T): Promise<T> => untilNotBusy(work, connection.path, clock);

  return {
    append(record, durability) {
      const promise = new Promise<void>((resolve, reject) => {
        const entry: Entry = { record, bodyText: undefined, resolve, reject };
        const isUrgent = durability === "durable";
        if (collecting === undefined) {
          collecting = { entries: [entry], isDurable: isUrgent };
          committer.add(createTask(collecting), isUrgent ? "tick" : "batch");
          return;
        }
        collecting.entries.push(entry);
        if (isUrgent) collecting.isDurable = true;
        if (isUrgent || collecting.entries.length === MAX_BATCH) committer.hasten();
      });
      promise.catch(ignore);
      return promise;
    },

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
        connection.all("SELECT writer, sequence, hash, pruned_to FROM chains ORDER BY id").map((row) => ({
          writer: textColumn(row, "writer"),
          sequence: integerColumn(row, "sequence"),
          hash: textColumn(row, "hash"),
          prunedTo: integerColumn(row, "pruned_to"),
        })),
      );
    },

    async verify(only) {
      settleOwn();
      return verifyChains(connection, only, read);
    },

    prune: (beforeMs) => pruneChains(connection, committer, wholeMs(beforeMs), writer),
  };
}

/** Serialises the body; a record that cannot be written is rejected here and left out of the chain. */
function prepareEntry(entry: Entry): void {
  if (entry.bodyText !== undefined) return;
  try {
    checkName("callId", entry.record.callId);
    checkName("kind", entry.record.kind);
    wholeMs(entry.record.at);
    entry.bodyText = canonicalJson(entry.record.body);
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    entry.reject(
      new PortcullisError("audit_unavailable", `the record cannot be written: ${told}`, { cause: error }),
    );
  }
}

/** Text that SQLite gives back as it took it; another would break the chain when it is checked. */
function checkName(name: string, value: string): void {
  if (value.isWellFormed() && !value.includes("\0") && value.length <= MAX_NAME_CHARACTERS) return;
  throw new PortcullisError(
    "internal",
    `\`${name}\` of a record must be well-formed text without NUL, of at most ${MAX_NAME_CHARACTERS} characters`,
  );
}

function filterable(body: JsonObject): Record<"server" | "tool" | "principal", string | null> {
  const text = (name: string): string | null => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === "string" ? value : null;
  };
  return { server: text("server"), tool: text("tool"), principal: text("principal") };
}
