/** The queues of leases in SQLite; `leases.ts` is what stands in them. */
import type { Clock } from "../base/clock.ts";
import { LEASE_MS, LEASE_TOPIC, splitQueue, type LeaseQueue, type QueueLook } from "./leases.ts";
import { integerColumn, textColumn, wholeMs } from "./rows.ts";
import type { Committer } from "./sqlite-commit.ts";
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";

const ENTER = "INSERT INTO lease_queue (name, instance, until) VALUES (?, ?, ?) RETURNING ticket";
const RENEW = "UPDATE lease_queue SET until = ? WHERE ticket = ?";
const LEAVE = "DELETE FROM lease_queue WHERE ticket = ?";
const TAKE_OUT = "DELETE FROM lease_queue WHERE ticket = ? AND until = ?";
const SELECT_QUEUE = "SELECT ticket, instance, until FROM lease_queue WHERE name = ? ORDER BY ticket";

export interface SqliteLeasesOptions {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: Clock;
  /** Whose entries these are. */
  readonly instance: string;
  /** Whether that instance is known not to live. */
  readonly isGone: (instance: string) => boolean;
}

export function createSqliteLeaseQueue(options: SqliteLeasesOptions): LeaseQueue {
  const { connection, committer, clock, instance, isGone } = options;
  const untilFromNow = (): number => wholeMs(clock.now()) + LEASE_MS;

  return {
    enter(name) {
      return committer.write(() => {
        const row = connection.get(ENTER, name, instance, untilFromNow());
        return integerColumn(row ?? {}, "ticket");
      }, false);
    },

    renew(tickets) {
      const until = untilFromNow();
      return committer.write(
        () => new Set(tickets.filter((ticket) => connection.run(RENEW, until, ticket).changes > 0)),
        false,
      );
    },

    leave(ticket) {
      return committer.write((touch) => {
        if (connection.run(LEAVE, ticket).changes > 0) touch(LEASE_TOPIC);
      }, false);
    },

    look(name) {
      const read = (): QueueLook => {
        const queue = connection.all(SELECT_QUEUE, name).map((row) => ({
          ticket: integerColumn(row, "ticket"),
          instance: textColumn(row, "instance"),
          until: integerColumn(row, "until"),
        }));
        return splitQueue(queue, (entry) => entry.until > clock.now() && !isGone(entry.instance));
      };
      return untilNotBusy(read, connection.path, clock);
    },

    takeOut(gone) {
      return committer.write((touch) => {
        for (const { ticket, until } of gone) connection.run(TAKE_OUT, ticket, until);
        touch(LEASE_TOPIC);
      }, false);
    },
  };
}
