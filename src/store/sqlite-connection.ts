/**
 * One connection to SQLite through the builtin `node:sqlite`. Everything is synchronous: between two calls of one turn of
 * the event loop nobody else of this process gets in. Statements are prepared once and kept.
 *
 * Settings: write-ahead log (readers never wait for a writer), `synchronous` set per commit (sqlite-commit.ts), a short
 * wait for locks in the thread (longer ones are waited for outside, see `untilNotBusy`), temporary tables in memory.
 */
import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { PortcullisError } from "../errors.ts";
import type { Clock } from "../base/clock.ts";
import { fromSqliteError, isBusy } from "./sqlite-errors.ts";
import type { Row } from "./rows.ts";

export interface Connection {
  /** The file, or `:memory:`. */
  readonly path: string;
  /** True inside `BEGIN` … `COMMIT`. */
  readonly isInTransaction: boolean;
  exec(sql: string): void;
  run(sql: string, ...values: readonly SQLInputValue[]): { readonly changes: number };
  get(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: readonly SQLInputValue[]): Row[];
  /** Row by row; the rest is not read where the caller stops. Nothing may be written meanwhile. */
  iterate(sql: string, ...values: readonly SQLInputValue[]): Iterable<Row>;
  /**
   * Whoever writes into a file that has lost its name writes for nobody.
   *
   * @throws `state_unusable` where the file is not the one at `path` any more.
   */
  refuseMoved(): void;
  /** Ends a transaction that failed; nothing where SQLite has ended it already. */
  rollback(): void;
  close(): void;
}

export interface ConnectionOptions {
  /** A file that exists, or `:memory:`. */
  readonly path: string;
  /** The most that the database may take on disk; what does not fit fails as on a full disk. */
  readonly maxBytes?: number;
  /** How long one call may wait in the thread for a lock. Default 25. */
  readonly busyInThreadMs?: number;
  /** Looks at the file before a setting changes it; what it throws refuses the file as it is. */
  readonly look?: (connection: Connection) => void;
}

/** The pause, outside the thread, before attempt number `attempt` (1, 2, …) at a lock that somebody holds. */
export function busyPauseMs(attempt: number): number {
  return Math.min(5 * 2 ** (attempt - 1), 100);
}

/** The first version without the WAL-reset bug, which corrupts a file that two processes write. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const MEMORY = ":memory:";
const PAGE_BYTES = 4096;
/** How long a call may hold up the event loop for a lock; mostly it is free again within one commit of somebody else. */
const BUSY_IN_THREAD_MS = 25;
/** After so long without the lock a caller is told. */
export const BUSY_IN_ALL_MS = 10_000;
/** Pages in the log before they are moved into the file: the more, the rarer a page that changes often is moved. */
const LOG_PAGES = 4_000;
const LOG_BYTES_KEPT = 32 * 1024 * 1024;

/** @throws `state_unusable` where `version` (for example `3.51.3`) is older than what is safe with several processes. */
export function refuseOldSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [at, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[at] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new PortcullisError(
        "state_unusable",
        `this Node.js brings SQLite ${version}, which can corrupt a state that several processes share: ` +
          `use a newer Node.js, one with SQLite ${OLDEST_SQLITE.join(".")} or later`,
        { data: { found: version, oldest: OLDEST_SQLITE.join(".") } },
      );
    }
  }
}

/** @throws `state_unusable` where SQLite is too old or the file system cannot hold a write-ahead log; errors of SQLite. */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, maxBytes, busyInThreadMs = BUSY_IN_THREAD_MS, look } = options;
  // Before it is opened: a file that is replaced in between counts as moved.
  const identity = identityOf(path);
  const database = new DatabaseSync(path, { timeout: busyInThreadMs });
  const statements = new Map<string, StatementSync>();
  let isClosed = false;
  const prepared = (sql: string): StatementSync => {
    if (isClosed) throw new PortcullisError("interrupted", "the store is closed");
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const connection: Connection = {
    path,
    get isInTransaction() {
      return database.isTransaction;
    },
    exec: (sql) => database.exec(sql),
    run: (sql, ...values) => ({ changes: Number(prepared(sql).run(...values).changes) }),
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    iterate: (sql, ...values) => prepared(sql).iterate(...values),
    refuseMoved() {
      if (path === MEMORY || identityOf(path) === identity) return;
      throw new PortcullisError(
        "state_unusable",
        `state \`${path}\` was moved, removed or replaced while it was in use: put it back, or start anew`,
        { data: { path } },
      );
    },
    rollback() {
      if (database.isTransaction) database.exec("ROLLBACK");
    },
    close() {
      isClosed = true;
      statements.clear();
      database.close();
    },
  };
  try {
    const found = database.prepare("SELECT sqlite_version() AS version").get();
    refuseOldSqlite(String(found?.["version"]));
    look?.(connection);
    applySettings(database, path, maxBytes);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** What tells a file from another one of the same name; `undefined` where there is none. */
function identityOf(path: string): string | undefined {
  const found = path === MEMORY ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}

function applySettings(
  database: InstanceType<typeof DatabaseSync>,
  path: string,
  maxBytes: number | undefined,
): void {
  // Only has an effect before the first table: pages that pruning frees can then be given back to the disk.
  database.exec("PRAGMA auto_vacuum = INCREMENTAL");
  if (path !== MEMORY) {
    const mode = database.prepare("PRAGMA journal_mode = WAL").get();
    if (mode?.["journal_mode"] !== "wal") {
      throw new PortcullisError(
        "state_unusable",
        `the file system of \`${path}\` cannot hold a write-ahead log: put the state on a local disk`,
      );
    }
  }
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA recursive_triggers = ON;
    PRAGMA wal_autocheckpoint = ${LOG_PAGES};
    PRAGMA journal_size_limit = ${LOG_BYTES_KEPT};
  `);
  if (maxBytes !== undefined)
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / PAGE_BYTES))}`);
}

/**
 * Runs `work` again, with short pauses, for as long as another process holds the lock (at most 10 s).
 *
 * @throws `state_unusable` for anything that SQLite reports, a lock that is not given up included.
 */
export async function untilNotBusy<T>(work: () => T, path: string, clock: Clock): Promise<T> {
  const giveUpAt = clock.monotonic() + BUSY_IN_ALL_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= giveUpAt) throw fromSqliteError(error, path);
    }
    await clock.sleep(busyPauseMs(attempt));
  }
}
