/** The entries of instances on PostgreSQL. Leases are counted by the server's clock, the only one that all hosts share. */
import { INSTANCE_LEASE_MS, toRegistered, type InstanceTable } from "./instances.ts";
import type { Liveness } from "./liveness.ts";
import type { Committer } from "./postgres-commit.ts";
import type { Database } from "./postgres-connection.ts";
import { integerColumn } from "./rows.ts";

/** Milliseconds since the epoch, by the server. */
export const SERVER_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const TOPIC = "instances";

const UPSERT = `
  INSERT INTO instances (id, pid, process_start, machine, role, started_at, lease_until)
  VALUES ($1, $2, $3, $4, $5, $6, ${SERVER_NOW_MS} + ${INSTANCE_LEASE_MS})
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until RETURNING lease_until`;
const SELECT = `
  SELECT id, pid, process_start, machine, role, started_at, lease_until, ${SERVER_NOW_MS} AS now
  FROM instances ORDER BY started_at, id COLLATE "C"`;

export function createPostgresInstanceTable(database: Database, committer: Committer): InstanceTable {
  return {
    register({ id, pid, processStart, machine, role, startedAt }) {
      return committer.write(
        [TOPIC],
        async (transaction) => {
          const values = [id, pid, processStart, machine, role, startedAt];
          // Also where somebody took this one for dead and removed it.
          const [row] = await transaction.query(UPSERT, values);
          return integerColumn(row ?? {}, "lease_until");
        },
        false,
      );
    },
    async readAll() {
      const rows = await database.read(SELECT, [], (row) => ({
        now: integerColumn(row, "now"),
        instance: toRegistered(row),
      }));
      return { now: rows[0]?.now ?? 0, instances: rows.map(({ instance }) => instance) };
    },
    remove(id) {
      return committer.write(
        [TOPIC],
        async (transaction) => void (await transaction.query("DELETE FROM instances WHERE id = $1", [id])),
        false,
      );
    },
  };
}

/** Where the operating system does not tell start times: only the lease counts. */
export function createLeaseLiveness(): Liveness {
  return {
    self: { pid: process.pid, processStart: "", machine: "" },
    isAlive: (instance, now) => instance.leaseUntil > now,
    forget: () => undefined,
    close: () => undefined,
  };
}
