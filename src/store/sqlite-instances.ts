/** The entries of instances in SQLite. */
import type { Clock } from "../base/clock.ts";
import { INSTANCE_LEASE_MS, toRegistered, type InstanceTable, type Registered } from "./instances.ts";
import { wholeMs } from "./rows.ts";
import type { Committer } from "./sqlite-commit.ts";
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";

const SELECT = "SELECT id, pid, process_start, machine, role, started_at, lease_until FROM instances";
const UPSERT = `
  INSERT INTO instances (id, pid, process_start, machine, role, started_at, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`;

export interface SqliteInstanceTable extends InstanceTable {
  /** Also inside transactions. */
  find(id: string): Registered | undefined;
}

export function createSqliteInstanceTable(
  connection: Connection,
  committer: Committer,
  clock: Clock,
): SqliteInstanceTable {
  return {
    register({ id, pid, processStart, machine, role, startedAt }) {
      const until = wholeMs(clock.now()) + INSTANCE_LEASE_MS;
      return committer.write(() => {
        // Also where somebody took this one for dead and removed it.
        connection.run(UPSERT, id, pid, processStart, machine, role, startedAt, until);
        return until;
      }, false);
    },
    readAll() {
      const read = (): Registered[] => connection.all(`${SELECT} ORDER BY started_at, id`).map(toRegistered);
      return untilNotBusy(() => ({ now: clock.now(), instances: read() }), connection.path, clock);
    },
    async remove(id) {
      await committer.write(() => connection.run("DELETE FROM instances WHERE id = ?", id), false);
    },
    find(id) {
      const row = connection.get(`${SELECT} WHERE id = ?`, id);
      return row === undefined ? undefined : toRegistered(row);
    },
  };
}
