/**
 * The embedded store: one SQLite file that several processes share, on the `node:sqlite` of Node.js. This file only puts
 * the parts together and takes them apart again in the right order.
 */
import type { Clock } from "../base/clock.ts";
import { createLifetime } from "../base/lifetime.ts";
import { onProcessExit } from "../base/process-exit.ts";
import { randomId, type Random } from "../base/random.ts";
import { joinInstances } from "./instances.ts";
import { createLeases } from "./leases.ts";
import { createProcLiveness, type Liveness } from "./liveness.ts";
import { createLockLiveness } from "./lock-liveness.ts";
import { migrate, refuseForeign } from "./migrate.ts";
import { createCommitter } from "./sqlite-commit.ts";
import { fromSqliteError } from "./sqlite-errors.ts";
import { openConnection, untilNotBusy, type Connection } from "./sqlite-connection.ts";
import { createSqliteDocuments } from "./sqlite-documents.ts";
import { createSqliteInstanceTable } from "./sqlite-instances.ts";
import { createSqliteLeaseQueue } from "./sqlite-leases.ts";
import { createSqliteRecords } from "./sqlite-records.ts";
import { createTopicWatch } from "./sqlite-watch.ts";
import { prepareStateDirectory, prepareStateFile, STATE_FILE, syncDirectory } from "./state-directory.ts";
import type { Store } from "./store.ts";

export interface SqliteStoreOptions {
  /** The state directory; made where it is missing. `:memory:` keeps everything in this process alone. */
  readonly dir: string;
  /** What this process is, for `instances`: `serve`, `cli`, `library`. */
  readonly role: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How far batched appends may lag behind. Default 25. */
  readonly batchMs?: number;
  /** The most that the state may take on disk; what does not fit fails as on a full disk. Default: no limit. */
  readonly maxBytes?: number;
  /** How to tell whether another process lives. Default: `proc` on Linux, `lock` elsewhere. */
  readonly liveness?: "proc" | "lock";
  /** Told about faults of background work (renewal, sweep, poll, a listener that throws); they are tried again. */
  readonly onFault?: (error: unknown) => void;
}

const MEMORY = ":memory:";
const DEFAULT_BATCH_MS = 25;

/**
 * Opens the store, making or migrating it where needed, and registers this process in it.
 *
 * @throws `state_unusable` where the directory is not ours alone, the file is damaged or something else's, the disk is full,
 *   or SQLite is older than 3.51.3; `state_newer` where a newer version of Portcullis wrote it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { clock, random, role, batchMs = DEFAULT_BATCH_MS, onFault = () => undefined } = options;
  const lifetime = createLifetime(`store ${options.dir}`);
  try {
    const connection = await openDatabase(options);
    lifetime.own(connection);
    const id = randomId(random);
    const liveness = chooseLiveness(options, id);
    lifetime.own(liveness);
    const watch = createTopicWatch({ connection, clock, onFault });
    lifetime.own(watch);
    const committer = createCommitter({ connection, clock, batchMs, onCommitted: watch.committed });
    lifetime.own(committer);
    // A process that ends without closing still writes what was batched; a commit is synchronous, so there is time for it.
    lifetime.onClose(onProcessExit(committer.commitWaiting));
    const table = createSqliteInstanceTable(connection, committer, clock);
    const instances = await joinInstances({ table, clock, liveness, id, role, onFault });
    lifetime.onClose(instances.leave);
    const queue = createSqliteLeaseQueue({
      connection,
      committer,
      clock,
      instance: id,
      isGone(instance) {
        const found = table.find(instance);
        return found === undefined || instances.isDead(found, clock.now());
      },
    });
    const leases = createLeases({ queue, clock, watch, onFault });
    lifetime.own(leases);
    const documents = createSqliteDocuments({ connection, committer, clock, onFault });
    lifetime.onClose(documents.stop);
    const records = createSqliteRecords({ connection, committer, clock, writer: id });
    return {
      documents,
      records,
      instances,
      leases,
      watch: (topic, listener) => watch.on(topic, listener),
      flush: committer.flush,
      async close() {
        try {
          await lifetime.close();
        } catch (error) {
          const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
          throw fromSqliteError(first, connection.path);
        }
      },
    };
  } catch (error) {
    await lifetime.close();
    throw error;
  }
}

async function openDatabase({ dir, clock, maxBytes }: SqliteStoreOptions): Promise<Connection> {
  const limit = maxBytes === undefined ? {} : { maxBytes };
  if (dir === MEMORY) return openMigrated({ path: MEMORY, ...limit }, clock);
  const folder = prepareStateDirectory(dir);
  const { path, isNew } = prepareStateFile(folder, STATE_FILE);
  const connection = await openMigrated({ path, ...limit }, clock);
  if (isNew) syncDirectory(folder);
  return connection;
}

/** Another process may be making the same file this very moment, and hold the lock for it. */
async function openMigrated(
  options: Parameters<typeof openConnection>[0],
  clock: Clock,
): Promise<Connection> {
  const connection = await untilNotBusy(
    () => openConnection({ ...options, look: refuseForeign }),
    options.path,
    clock,
  );
  try {
    await untilNotBusy(() => migrate(connection, clock.now()), options.path, clock);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function chooseLiveness({ dir, liveness }: SqliteStoreOptions, id: string): Liveness {
  const byProc = liveness === "lock" ? undefined : createProcLiveness();
  if (byProc !== undefined) return byProc;
  // A store in memory is this process's alone: there is nobody whose life could be asked about.
  if (dir === MEMORY)
    return {
      self: { pid: process.pid, processStart: "", machine: "" },
      isAlive: () => true,
      forget: () => undefined,
      close: () => undefined,
    };
  return createLockLiveness(dir, id);
}
