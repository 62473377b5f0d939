/**
 * Instances: which processes live on this state. This one's entry is renewed by a timer and taken out when it closes. The
 * store's own clock says when a lease has run out.
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { Liveness, RegisteredProcess } from "./liveness.ts";
import { integerColumn, textColumn, wholeMs, type Row } from "./rows.ts";
import type { Instance, Instances } from "./store.ts";

export type Registered = Instance & RegisteredProcess;

/** What a process says of itself. */
export type InstanceEntry = Omit<Registered, "leaseUntil">;

/** The entries of a store. */
export interface InstanceTable {
  /** Writes the entry, for `INSTANCE_LEASE_MS` from now. @returns until when it is good. */
  register(entry: InstanceEntry): Promise<number>;
  /** All of them, the oldest first, and the time by the clock that made their leases. */
  readAll(): Promise<{ readonly now: number; readonly instances: readonly Registered[] }>;
  remove(id: string): Promise<void>;
}

export interface OwnedInstances extends Instances {
  /** Takes the entry out and ends the renewal. */
  readonly leave: () => Promise<void>;
  /** Whether the process of that entry is known not to live. */
  isDead(instance: Registered, now: number): boolean;
}

export interface InstancesOptions {
  readonly table: InstanceTable;
  readonly clock: Clock;
  readonly liveness: Liveness;
  readonly id: string;
  readonly role: string;
  readonly onFault: (error: unknown) => void;
}

/** Long enough to survive a pause of the process; it only decides where pid and start time cannot. */
export const INSTANCE_LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

/** Registers this process. @throws `state_unusable`. */
export async function joinInstances(options: InstancesOptions): Promise<OwnedInstances> {
  const { table, clock, liveness, id, role, onFault } = options;
  const { pid, processStart, machine } = liveness.self;
  const startedAt = wholeMs(clock.now());
  const entry: InstanceEntry = { id, pid, processStart, machine, role, startedAt };
  let leaseUntil = 0;
  let hasLeft = false;

  const register = async (): Promise<void> => {
    leaseUntil = await table.register(entry);
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

  const isDead = (instance: Registered, now: number): boolean =>
    instance.id !== id && !liveness.isAlive(instance, now);

  return {
    get self() {
      return { id, pid, processStart, role, startedAt, leaseUntil };
    },
    async list() {
      return (await table.readAll()).instances.map(toInstance);
    },
    async listDead() {
      const { now, instances } = await table.readAll();
      return instances.filter((instance) => isDead(instance, now)).map(toInstance);
    },
    async remove(gone) {
      await table.remove(gone);
      liveness.forget(gone);
    },
    isDead,
    async leave() {
      hasLeft = true;
      renewal.cancel();
      try {
        await table.remove(id);
      } catch (error) {
        // The entry stays, and is found dead as soon as this process is.
        onFault(error);
      }
    },
  };
}

/** Of a row with the columns id, pid, process_start, machine, role, started_at, lease_until. */
export function toRegistered(row: Row): Registered {
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
