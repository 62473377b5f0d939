/** The queues of leases on PostgreSQL; `leases.ts` is what stands in them. The server's clock says what has run out. */
import { toRegistered, type Registered } from "./instances.ts";
import { LEASE_MS, LEASE_TOPIC, splitQueue, type LeaseQueue } from "./leases.ts";
import type { Committer, Work } from "./postgres-commit.ts";
import type { Database } from "./postgres-connection.ts";
import { SERVER_NOW_MS } from "./postgres-instances.ts";
import { integerColumn } from "./rows.ts";

const ENTER = `
  INSERT INTO lease_queue (name, instance, until) VALUES ($1, $2, ${SERVER_NOW_MS} + ${LEASE_MS}) RETURNING ticket`;
const RENEW = `
  UPDATE lease_queue SET until = ${SERVER_NOW_MS} + ${LEASE_MS} WHERE ticket = ANY ($1::bigint[]) RETURNING ticket`;
const LEAVE = "DELETE FROM lease_queue WHERE ticket = $1 RETURNING ticket";
const TAKE_OUT = `
  DELETE FROM lease_queue USING unnest($1::bigint[], $2::bigint[]) AS gone (ticket, until)
  WHERE lease_queue.ticket = gone.ticket AND lease_queue.until = gone.until`;
const SELECT_QUEUE = `
  SELECT q.ticket, q.until, ${SERVER_NOW_MS} AS now,
    i.id, i.pid, i.process_start, i.machine, i.role, i.started_at, i.lease_until
  FROM lease_queue q LEFT JOIN instances i ON i.id = q.instance WHERE q.name = $1 ORDER BY q.ticket`;

export interface PostgresLeasesOptions {
  readonly database: Database;
  readonly committer: Committer;
  /** Whose entries these are. */
  readonly instance: string;
  readonly isDead: (instance: Registered, now: number) => boolean;
}

export function createPostgresLeaseQueue(options: PostgresLeasesOptions): LeaseQueue {
  const { database, committer, instance, isDead } = options;
  const write = <T>(work: Work<T>): Promise<T> => committer.write([LEASE_TOPIC], work, false);

  return {
    enter(name) {
      return write(async (transaction) => {
        const [row] = await transaction.query(ENTER, [name, instance]);
        return integerColumn(row ?? {}, "ticket");
      });
    },

    renew(tickets) {
      return write(async (transaction) => {
        const rows = await transaction.query(RENEW, [tickets]);
        return new Set(rows.map((row) => integerColumn(row, "ticket")));
      });
    },

    leave(ticket) {
      return write(async (transaction, touch) => {
        if ((await transaction.query(LEAVE, [ticket])).length > 0) touch(LEASE_TOPIC);
      });
    },

    async look(name) {
      const queue = await database.read(SELECT_QUEUE, [name], (row) => ({
        ticket: integerColumn(row, "ticket"),
        until: integerColumn(row, "until"),
        now: integerColumn(row, "now"),
        holder: row["id"] === null ? undefined : toRegistered(row),
      }));
      return splitQueue(
        queue,
        ({ until, now, holder }) => until > now && holder !== undefined && !isDead(holder, now),
      );
    },

    takeOut(gone) {
      return write(async (transaction, touch) => {
        const values = [gone.map(({ ticket }) => ticket), gone.map(({ until }) => until)];
        await transaction.query(TAKE_OUT, values);
        touch(LEASE_TOPIC);
      });
    },
  };
}
