/**
 * Group commit on PostgreSQL. Everything that wants to be written waits in one queue; what is there when the connection is free
 * is written in one transaction: all statements in one flight, then the commit. Invariants:
 * - tasks run in the order in which they were added, each exactly once or not at all;
 * - what a task changes in memory it changes in `committed`, after the commit, never before;
 * - the locks of its topics are taken first, in one order, and kept to the end: writers of one topic follow one another, so a
 *   plain read inside a task stays true (at READ COMMITTED, which looks anew for each statement), records get their ids in the
 *   order of commitment, and nobody waits in a circle;
 * - a transaction that fails is rolled back as a whole, then its tasks are tried one by one;
 * - where the connection is lost before the commit was sent, nothing was done, and it is done again; where it is lost after
 *   that, the number of the newest commit of this writer says whether it was done. Its row is locked by the transaction, so the
 *   answer comes only when that has ended. The first commit of a writer has no row to wait for and may be made twice: it only
 *   registers the instance, by upsert.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { Database, Session } from "./postgres-connection.ts";
import { fromPostgresError, isEcho, isLost, isPassing, sqlState } from "./postgres-errors.ts";
import { integerColumn, textColumn, type Row } from "./rows.ts";

/** Tells that something under `topic` is changed by this transaction. */
export type Touch = (topic: string) => void;

export interface Transaction {
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** What is done in a transaction; its first statement must be sent before anything is waited for. */
export type Work<T> = (transaction: Transaction, touch: Touch) => Promise<T>;

export interface CommitTask {
  /** What it reads and writes. Only these may be touched. */
  readonly topics: readonly string[];
  /** Whether the commit must survive a power cut; read when the transaction begins. */
  isDurable(): boolean;
  /** Runs just before the transaction. Must not throw. */
  prepare?(): void;
  /** Runs again when the transaction failed because of others. */
  work: Work<void>;
  committed(): void;
  failed(error: PortcullisError): void;
}

/** `tick`: with everything else of this turn of the event loop. `batch`: within `batchMs`, or with the next tick. */
type Urgency = "tick" | "batch";

export interface Committer {
  add(task: CommitTask, urgency: Urgency): void;
  /** Something that waits as `batch` has become urgent. */
  hasten(): void;
  /** Runs `work` in the next transaction. @throws what `work` throws; `state_unusable` where it could not be committed. */
  write<T>(topics: readonly string[], work: Work<T>, isDurable: boolean): Promise<T>;
  /** Everything that was added so far is committed, durable or not, or has failed, when it resolves. */
  settle(): Promise<void>;
  /** The same, and synced. */
  readonly flush: () => Promise<void>;
  /** Commits what waits; whatever is added later fails as `interrupted`. */
  close(): Promise<void>;
}

export interface CommitterOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** The id of this process's instance, `[A-Za-z0-9_-]+`. */
  readonly writer: string;
  /** The channel on which commits are told. */
  readonly channel: string;
  readonly batchMs: number;
  /** Called after each commit with the topics it touched and how often each was changed so far. */
  readonly onCommitted: (changes: ReadonlyMap<string, number>) => void;
}

const FLUSH_TOPIC = "flush";
const STATEMENT_TIMEOUT = "57014";

/** What became of a transaction whose commit was sent. */
type Outcome =
  | { readonly kind: "committed"; readonly changes: ReadonlyMap<string, number> }
  | { readonly kind: "unknown"; readonly error: PortcullisError };

export function createCommitter(options: CommitterOptions): Committer {
  const { database, clock, writer, channel, batchMs, onCommitted } = options;
  let waiting: CommitTask[] = [];
  let isUrgent = false;
  let isTickPlanned = false;
  let batchTimer: Timer | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;
  /** Of the newest transaction that was begun. */
  let commitNumber = 0;
  /** Commits since the last sync of the server's disk. */
  let hasUnsynced = false;

  /** One transaction over `tasks`. @throws what the server or a task throws: then nothing of it was done. */
  const transact = async (tasks: readonly CommitTask[]): Promise<Outcome> => {
    const isDurable = tasks.some((task) => task.isDurable());
    commitNumber += 1;
    const touched = new Set<string>();
    const topics = [...new Set(tasks.flatMap((task) => task.topics))].sort();
    let isCommitSent = false;
    try {
      const changes = await database.write(async (session) => {
        const transaction: Transaction = {
          query: async (sql, values = []) => (await session.query(sql, values))[0] ?? [],
        };
        await allSent([
          session.query(beginText(writer, commitNumber, topics, isDurable)),
          ...tasks.map(async (task) => task.work(transaction, (topic) => touched.add(topic))),
        ]);
        isCommitSent = true;
        return sendCommit(session, touched, channel);
      });
      hasUnsynced = !isDurable;
      return { kind: "committed", changes };
    } catch (error) {
      if (!isCommitSent || !isLost(error)) throw error;
      const found = await findOut(database, writer, commitNumber);
      if (found.kind === "rolled back") throw error;
      hasUnsynced = !isDurable;
      return found;
    }
  };

  const commit = async (tasks: readonly CommitTask[]): Promise<void> => {
    for (const task of tasks) task.prepare?.();
    try {
      const outcome = await database.persist(() => transact(tasks), isPassing);
      for (const task of tasks) {
        if (outcome.kind === "committed") task.committed();
        else task.failed(outcome.error);
      }
      if (outcome.kind === "committed" && outcome.changes.size > 0) onCommitted(outcome.changes);
    } catch (error) {
      if (tasks.length > 1 && isOfOne(error)) for (const task of tasks) await commit([task]);
      else for (const task of tasks) task.failed(fromPostgresError(error, database.label));
    }
  };

  const run = async (): Promise<void> => {
    // Whoever starts it has its promise before it ends.
    await Promise.resolve();
    while (isUrgent) {
      isUrgent = false;
      batchTimer?.cancel();
      batchTimer = undefined;
      const tasks = waiting;
      waiting = [];
      if (tasks.length > 0) await commit(tasks);
    }
    running = undefined;
  };

  const commitWaiting = (): Promise<void> => {
    isUrgent = true;
    running ??= run();
    return running;
  };

  const planTick = (): void => {
    if (isTickPlanned) return;
    isTickPlanned = true;
    setImmediate(() => {
      isTickPlanned = false;
      void commitWaiting();
    });
  };

  const add = (task: CommitTask, urgency: Urgency): void => {
    if (isClosed) {
      task.failed(closedError());
      return;
    }
    waiting.push(task);
    if (urgency === "tick") planTick();
    else batchTimer ??= clock.timer(batchMs, () => void commitWaiting());
  };

  const write = <T>(topics: readonly string[], work: Work<T>, isDurable: boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      let result: { readonly value: T } | undefined;
      const task: CommitTask = {
        topics,
        isDurable: () => isDurable,
        async work(transaction, touch) {
          result = { value: await work(transaction, touch) };
        },
        committed: () => {
          if (result !== undefined) resolve(result.value);
        },
        failed: reject,
      };
      add(task, "tick");
    });

  const flush = async (): Promise<void> => {
    if (waiting.length === 0 && running === undefined && !hasUnsynced) return;
    // A durable commit syncs the log, and with it every commit before.
    await write([FLUSH_TOPIC], async (_transaction, touch) => touch(FLUSH_TOPIC), true);
  };

  return {
    add,
    hasten: planTick,
    write,
    async settle() {
      if (waiting.length > 0 || running !== undefined) await commitWaiting();
    },
    flush,
    async close() {
      try {
        await flush();
      } finally {
        isClosed = true;
        batchTimer?.cancel();
        const left = waiting;
        waiting = [];
        for (const task of left) task.failed(closedError());
        await running;
      }
    },
  };
}

/** Waits for all of them. @throws the first failure that is no echo of another one. */
async function allSent(promises: readonly Promise<unknown>[]): Promise<void> {
  const failures = (await Promise.allSettled(promises)).flatMap((settled) =>
    settled.status === "rejected" ? [settled.reason as unknown] : [],
  );
  if (failures.length > 0) throw failures.find((error) => !isEcho(error)) ?? failures[0];
}

/** Several statements in one message take no values: what stands in them is ours, and made of plain characters. */
function beginText(
  writer: string,
  commitNumber: number,
  topics: readonly string[],
  isDurable: boolean,
): string {
  const rows = topics.map((topic) => `(${literal(topic)}, 0)`).join(", ");
  const names = topics.map(literal).join(", ");
  const locks =
    topics.length === 0
      ? ""
      : `INSERT INTO topics (topic, changes) VALUES ${rows} ON CONFLICT DO NOTHING;
         SELECT 1 FROM topics WHERE topic IN (${names}) ORDER BY topic FOR UPDATE;`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = ${isDurable ? "on" : "off"};
    INSERT INTO commits (writer, number) VALUES (${literal(writer)}, ${commitNumber})
    ON CONFLICT (writer) DO UPDATE SET number = excluded.number;
    ${locks}`;
}

async function sendCommit(
  session: Session,
  touched: ReadonlySet<string>,
  channel: string,
): Promise<ReadonlyMap<string, number>> {
  const names = [...touched].map(literal).join(", ");
  const count =
    touched.size === 0
      ? ""
      : `UPDATE topics SET changes = changes + 1 WHERE topic IN (${names})
         RETURNING topic, changes, pg_notify(${literal(channel)}, topic || ' ' || changes);`;
  const [counted] = await session.query(`${count} COMMIT`);
  return new Map((counted ?? []).map((row) => [textColumn(row, "topic"), integerColumn(row, "changes")]));
}

async function findOut(
  database: Database,
  writer: string,
  commitNumber: number,
): Promise<Outcome | { readonly kind: "rolled back" }> {
  try {
    const sql = "SELECT number FROM commits WHERE writer = $1 FOR UPDATE";
    const [number] = await database.read(sql, [writer], (row) => integerColumn(row, "number"));
    if (number !== commitNumber) return { kind: "rolled back" };
    // How often its topics were changed is not known: whoever listens hears of it from the server.
    return { kind: "committed", changes: new Map() };
  } catch (cause) {
    const error = new PortcullisError(
      "state_unusable",
      `database \`${database.label}\` was lost in the middle of a commit, and it is not known whether it was made`,
      { cause },
    );
    return { kind: "unknown", error };
  }
}

/** True for a failure that can be of one task alone, and not of the server or of the waiting for it. */
function isOfOne(error: unknown): boolean {
  if (error instanceof PortcullisError) return error.code !== "interrupted";
  return !isPassing(error) && sqlState(error) !== STATEMENT_TIMEOUT;
}

/** Collections, channels and ids of instances are made of these characters. */
function literal(text: string): string {
  if (/^[\w-]+$/.test(text)) return `'${text}'`;
  throw new PortcullisError("internal", `\`${text}\` is no plain name`);
}

function closedError(): PortcullisError {
  return new PortcullisError("interrupted", "the store is closed");
}
