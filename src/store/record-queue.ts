/** Appends that wait together: those of one turn of the event loop, or of one batch, become one task of the store's committer. */
import type { RecordEntry } from "./record-rows.ts";
import type { Durability, RecordInput } from "./store.ts";

/** So many waiting records are written at once, whatever the timer says: bounds memory and the pause of one commit. */
const MAX_BATCH = 500;

/** Records that are written by one commit. */
export interface RecordGroup {
  readonly entries: RecordEntry[];
  isDurable: boolean;
}

export interface RecordQueue {
  /** The promise may be ignored. */
  append(record: RecordInput, durability: Durability): Promise<void>;
  /** Whether a group is still open. */
  readonly isCollecting: boolean;
  /** The group takes no more: what is appended next goes into the next commit. */
  close(group: RecordGroup): void;
}

/**
 * @param begin gives a new group to the committer; `isUrgent` says whether it waits for a batch.
 * @param hasten the group that was given last has become urgent.
 */
export function createRecordQueue(
  begin: (group: RecordGroup, isUrgent: boolean) => void,
  hasten: () => void,
): RecordQueue {
  let collecting: RecordGroup | undefined;
  return {
    append(record, durability) {
      const promise = new Promise<void>((resolve, reject) => {
        const entry: RecordEntry = { record, bodyText: undefined, resolve, reject };
        const isUrgent = durability === "durable";
        if (collecting === undefined) {
          collecting = { entries: [entry], isDurable: isUrgent };
          begin(collecting, isUrgent);
          return;
        }
        collecting.entries.push(entry);
        if (isUrgent) collecting.isDurable = true;
        if (isUrgent || collecting.entries.length === MAX_BATCH) hasten();
      });
      promise.catch(() => undefined);
      return promise;
    },
    get isCollecting() {
      return collecting !== undefined;
    },
    close(group) {
      if (collecting === group) collecting = undefined;
    },
  };
}
