/**
 * Group commit. Everything that wants to be written waits in one queue; what came in one turn of the event loop is written
 * in one transaction, with one sync of the disk for all that asked to be durable. Invariants:
 * - tasks run in the order in which they were added, each exactly once or not at all;
 * - what a task changes in memory it changes in `committed`, after the commit, never before;
 * - a transaction that fails is rolled back as a whole, then its tasks are tried one by one, so that one that is too big
 *   for the disk does not take the others with it;
 * - a lock that another process holds is waited for outside the thread, for at most 10 s.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { BUSY_IN_ALL_MS, busyPauseMs, type Connection } from "./sqlite-connection.ts";
import { fromSqliteError, isBusy } from "./sqlite-errors.ts";
import { integerColumn } from "./rows.ts";

/** Tells that something under `topic` is changed by this transaction. */
export type Touch = (topic: string) => void;

export interface CommitTask {
  /** Whether the commit must survive a power cut; read when the transaction begins. */
  isDurable(): boolean;
  /** Runs just before the transaction, so that the lock is not held for it. Must not throw. */
  prepare?(): void;
  /** Runs inside the transaction; runs again when the transaction failed because of others. */
  work(touch: Touch): void;
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
  write<T>(work: (touch: Touch) => T, isDurable: boolean): Promise<T>;
  /** Commits what waits now, in this very call, where the lock is free; otherwise it stays in the queue. */
  readonly commitWaiting: () => void;
  /** Everything that was added so far is committed and synced, or failed, when it resolves. */
  readonly flush: () => Promise<void>;
  /** Commits what waits; whatever is added later fails as `interrupted`. */
  close(): Promise<void>;
}

export interface CommitterOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly batchMs: number;
  /** Called after each commit with the topics it touched and how often each was changed so far. */
  readonly onCommitted: (changes: ReadonlyMap<string, number>) => void;
}

export function createCommitter(options: CommitterOptions): Committer {
  const { connection, clock, batchMs, onCommitted } = options;
  let waiting: CommitTask[] = [];
  let isTickPlanned = false;
  let batchTimer: Timer | undefined;
  /** Ends the pause before the next attempt at a lock that somebody else holds. */
  let busyPause: AbortController | undefined;
  /** While somebody else holds the lock: since when, on the monotonic clock, and how often it was tried. */
  let busy: { readonly since: number; readonly attempts: number } | undefined;
  let isClosed = false;
  let isSyncFull: boolean | undefined;
  /** Commits since the last sync of the disk. */
  let hasUnsynced = false;

  const setSync = (isFull: boolean): void => {
    if (isSyncFull === isFull) return;
    connection.exec(isFull ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    isSyncFull = isFull;
  };

  /** One transaction over `tasks`. @throws what SQLite or a task throws, after rolling back. */
  const transact = (tasks: readonly CommitTask[], isDurable: boolean): ReadonlyMap<string, number> => {
    const touched = new Set<string>();
    const changes = new Map<string, number>();
    connection.refuseMoved();
    setSync(isDurable);
    connection.run("BEGIN IMMEDIATE");
    try {
      for (const task of tasks) task.work((topic) => touched.add(topic));
      for (const topic of touched) changes.set(topic, countChange(connection, topic));
      connection.run("COMMIT");
    } catch (error) {
      connection.rollback();
      throw error;
    }
    hasUnsynced = !isDurable;
    return changes;
  };

  const settle = (tasks: readonly CommitTask[], changes: ReadonlyMap<string, number>): void => {
    for (const task of tasks) task.committed();
    if (changes.size > 0) onCommitted(changes);
  };

  const retryLater = (tasks: readonly CommitTask[], error: unknown): void => {
    busy = { since: busy?.since ?? clock.monotonic(), attempts: (busy?.attempts ?? 0) + 1 };
    if (clock.monotonic() - busy.since >= BUSY_IN_ALL_MS) {
      busy = undefined;
      for (const task of tasks) task.failed(fromSqliteError(error, connection.path));
      return;
    }
    waiting = [...tasks, ...waiting];
    if (busyPause === undefined) pauseForLock(busyPauseMs(busy.attempts));
  };

  /** A sleep and no timer: what waits to be written keeps the process alive. */
  const pauseForLock = (pauseMs: number): void => {
    const controller = new AbortController();
    busyPause = controller;
    clock.sleep(pauseMs, controller.signal).then(
      () => {
        busyPause = undefined;
        commitWaiting();
      },
      () => undefined,
    );
  };

  const commitEach = (tasks: readonly CommitTask[]): void => {
    for (const [at, task] of tasks.entries()) {
      try {
        settle([task], transact([task], task.isDurable()));
      } catch (error) {
        if (isBusy(error)) {
          retryLater(tasks.slice(at), error);
          return;
        }
        task.failed(fromSqliteError(error, connection.path));
      }
    }
  };

  const commitWaiting = (): void => {
    batchTimer?.cancel();
    batchTimer = undefined;
    const tasks = waiting;
    if (tasks.length === 0) return;
    waiting = [];
    for (const task of tasks) task.prepare?.();
    let changes: ReadonlyMap<string, number>;
    try {
      changes = transact(
        tasks,
        tasks.some((task) => task.isDurable()),
      );
    } catch (error) {
      if (isBusy(error)) retryLater(tasks, error);
      else if (tasks.length === 1) tasks[0]?.failed(fromSqliteError(error, connection.path));
      else commitEach(tasks);
      return;
    }
    busy = undefined;
    settle(tasks, changes);
  };

  const planTick = (): void => {
    if (isTickPlanned) return;
    isTickPlanned = true;
    setImmediate(() => {
      isTickPlanned = false;
      // While the lock is taken the pause goes on; another attempt now would only hold up the event loop.
      if (busyPause === undefined) commitWaiting();
    });
  };

  const add = (task: CommitTask, urgency: Urgency): void => {
    if (isClosed) {
      task.failed(new PortcullisError("interrupted", "the store is closed"));
      return;
    }
    waiting.push(task);
    if (urgency === "tick") planTick();
    else batchTimer ??= clock.timer(batchMs, commitWaiting);
  };

  const write = <T>(work: (touch: Touch) => T, isDurable: boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      let result: { readonly value: T } | undefined;
      add(
        {
          isDurable: () => isDurable,
          work(touch) {
            result = { value: work(touch) };
          },
          committed: () => {
            if (result !== undefined) resolve(result.value);
          },
          failed: reject,
        },
        "tick",
      );
    });

  const flush = async (): Promise<void> => {
    if (waiting.length === 0 && !hasUnsynced) return;
    // A durable commit syncs the log, and with it every commit before.
    await write((touch) => touch("flush"), true);
  };

  return {
    add,
    hasten: planTick,
    write,
    commitWaiting,
    flush,
    async close() {
      try {
        await flush();
      } finally {
        isClosed = true;
        batchTimer?.cancel();
        busyPause?.abort(new PortcullisError("interrupted", "the store is closed"));
        const left = waiting;
        waiting = [];
        for (const task of left) task.failed(new PortcullisError("interrupted", "the store is closed"));
      }
    },
  };
}

function countChange(connection: Connection, topic: string): number {
  const row = connection.get(
    "INSERT INTO topics (topic, changes) VALUES (?, 1) ON CONFLICT (topic) DO UPDATE SET changes = changes + 1 RETURNING changes",
    topic,
  );
  return row === undefined ? 0 : integerColumn(row, "changes");
}
