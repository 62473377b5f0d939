/** Instances: which processes live on this state. This one's entry is renewed by a timer and taken out when it closes. */
import type { Clock, Timer } from "../base/clock.ts";
import type { Liveness, RegisteredProcess } from "./liveness.ts";
import type { Committer } from "./sqlite-commit.ts";
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn, wholeMs, type Row } from "./sqlite-rows.ts";
import type { Instance, Instances } from "./store.ts";

export interface SqliteInstances extends Instances {
  /** Takes the entry out and ends the renewal. */
  readonly leave: () => Promise<void>;
  /** Whether the instance `id` is known not to live; asked inside transactions too. */
  isGone(id: string): boolean;
}

export interface SqliteInstancesOptions {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly liveness: Liveness;
  readonly id: string;
  readonly role: string;
  readonly onFault: (error: unknown) => void;
}

/** Long enough to survive a pause of the process; it only decides where pid and start time cannot. */
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

const SELECT = "SELECT id, pid, process_start, machine, role, started_at, lease_until FROM instances";
const UPSERT = `
  INSERT INTO instances (id, pid, process_start, machine, role, started_at, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`;

type Registered = Instance & RegisteredProcess;

/** Registers this process. @throws `state_unusable`. */
export async function joinInstances(options: SqliteInstancesOptions): Promise<SqliteInstances> {
  const { connection, committer, clock, liveness, id, role, onFault } = options;
  const startedAt = wholeMs(clock.now());
  let leaseUntil = startedAt + LEASE_MS;
  let hasLeft = false;

  const register = (): Promise<void> => {
    const until = wholeMs(clock.now()) + LEASE_MS;
    const { pid, processStart, machine } = liveness.self;
    return committer.write(() => {
      // Also where somebody took this one for dead and removed it.
      connection.run(UPSERT, id, pid, processStart, machine, role, startedAt, until);
      leaseUntil = until;
    }, false);
  };

  const planRenewal = (): Timer =>
    clock.timer(RENEW_EVERY_MS, () => {
      register()
        .catch(onFault)
        .finally(() => {
          if (!hasLeft) renewal = planRenewal();
        });
    });

  await register();
  let renewal = planRenewal();

  const readAll = (): Promise<Registered[]> =>
    untilNotBusy(
      () => connection.all(`${SELECT} ORDER BY started_at, id`).map(fromRow),
      connection.path,
      clock,
    );

  const isDead = (instance: Registered): boolean =>
    instance.id !== id && !liveness.isAlive(instance, clock.now());

  return {
    get self() {
      const { pid, processStart } = liveness.self;
      return { id, pid, processStart, role, startedAt, leaseUntil };
    },
    async list() {
      return (await readAll()).map(toInstance);
    },
    async listDead() {
      return (await readAll()).filter(isDead).map(toInstance);
    },
    async remove(gone) {
      await committer.write(() => connection.run("DELETE FROM instances WHERE id = ?", gone), false);
      liveness.forget(gone);
    },
    isGone(other) {
      const row = connection.get(`${SELECT} WHERE id = ?`, other);
      return row === undefined || isDead(fromRow(row));
    },
    async leave() {
      hasLeft = true;
      renewal.cancel();
      try {
        await committer.write(() => connection.run("DELETE FROM instances WHERE id = ?", id), false);
      } catch (error) {
        // The entry stays, and is found dead as soon as this process is.
        onFault(error);
      }
    },
  };
}

function fromRow(row: Row): Registered {
  return {
    id: textColumn(row, "id"),
    pid: integerColumn(row, "pid"),
    processStart: textColumn(row, "process_start"),
    machine: textColumn(row, "machine"),
    role: textColumn(row, "role"),
    startedAt: integerColumn(row, "started_at"),
    leaseUntil: integerColumn(row, "lease_until"),
  };
}

function toInstance(registered: Registered): Instance {
  const { machine: _machine, ...instance } = registered;
  return instance;
}
