/**
 * Connections to one database: a few that read and one that writes. Invariants:
 * - every wait is bounded: connecting, a statement on the server, its answer here, an outage that is ridden out;
 * - what only reads is tried again on another connection; what writes never is, its caller knows how (`postgres-commit.ts`);
 * - a connection that failed is never used again.
 */
import type { Pool, PoolClient } from "pg";
import type { Clock } from "../base/clock.ts";
import { untilAborted } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import { fromPostgresError, isLost } from "./postgres-errors.ts";
import type { Row } from "./rows.ts";

/** One connection, for as long as somebody has it. */
export interface Session {
  /** The rows of the statement, or of each of several (which take no values). Statements are answered in their order. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly Row[])[]>;
}

export interface Database {
  /** For people; without a password. */
  readonly label: string;
  /** The rows of one statement that changes nothing. @throws `state_unusable`, `interrupted` once it is closed. */
  read<T>(sql: string, values: readonly unknown[], fromRow: (row: Row) => T): Promise<T[]>;
  /**
   * Runs `work` on the connection that writes, alone. It is given back where `work` succeeds, and ended where it throws.
   *
   * @throws what `work` throws, and what the driver throws.
   */
  write<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `work` again, with short pauses, while it fails as `isAgain` says, until the patience is used up. @throws what it throws last. */
  persist<T>(work: () => Promise<T>, isAgain: (error: unknown) => boolean): Promise<T>;
  /** From now on nobody waits long for a server that is gone. */
  hurry(): void;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly label: string;
  readonly clock: Clock;
  readonly readers: Pool;
  /** With one connection that takes statements before the answers to those before. */
  readonly writer: Pool;
}

/** How long an outage is ridden out: a server that is started anew is back by then. */
const PATIENCE_MS = 10_000;
const HURRIED_MS = 1_000;
/** How long a connection may take to say goodbye. */
export const GOODBYE_MS = 1_000;

function pauseMs(attempt: number): number {
  return Math.min(25 * 2 ** (attempt - 1), 500);
}

export function createDatabase(options: DatabaseOptions): Database {
  const { label, clock, readers, writer } = options;
  const closing = new AbortController();
  let patienceMs = PATIENCE_MS;
  const clients = new Set<PoolClient>();

  for (const pool of [readers, writer]) {
    // One that breaks while nobody uses it is dropped by the pool; whoever uses it hears of it by its statement.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => {
      clients.add(client);
      client.on("error", () => undefined);
      client.once("end", () => clients.delete(client));
    });
  }

  const persist = async <T>(work: () => Promise<T>, isAgain: (error: unknown) => boolean): Promise<T> => {
    let since: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      if (closing.signal.aborted) throw closedError();
      try {
        return await work();
      } catch (error) {
        since ??= clock.monotonic();
        if (!isAgain(error) || clock.monotonic() - since >= patienceMs) throw error;
      }
      await clock.sleep(pauseMs(attempt), closing.signal);
    }
  };

  return {
    label,

    async read(sql, values, fromRow) {
      try {
        const reading = persist(() => readers.query<Row>(sql, [...values]), isLost);
        return (await untilAborted(reading, closing.signal)).rows.map(fromRow);
      } catch (error) {
        throw fromPostgresError(error, label);
      }
    },

    async write(work) {
      if (closing.signal.aborted) throw closedError();
      const client = await writer.connect();
      let failure: unknown;
      try {
        return await work(sessionOn(client));
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        client.release(failure !== undefined);
      }
    },

    persist,

    hurry() {
      patienceMs = HURRIED_MS;
    },

    async close() {
      if (closing.signal.aborted) return;
      closing.abort(closedError());
      const ended = Promise.all([readers.end(), writer.end()]);
      // A server that does not answer does not say goodbye either.
      const cut = clock.timer(GOODBYE_MS, () => {
        for (const client of clients) destroyConnection(client);
      });
      await ended.finally(() => cut.cancel());
    },
  };
}

function sessionOn(client: PoolClient): Session {
  return {
    async query(sql, values) {
      const answer: unknown = await client.query(sql, values === undefined ? undefined : [...values]);
      const results = Array.isArray(answer) ? answer : [answer];
      return (results as { readonly rows: readonly Row[] }[]).map(({ rows }) => rows);
    },
  };
}

/** Ends a connection of the driver at once, which it has no public way for. */
export function destroyConnection(client: unknown): void {
  (client as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}

function closedError(): PortcullisError {
  return new PortcullisError("interrupted", "the store is closed");
}
