/**
 * Gives records to the store and keeps account of what could not be written: it is counted, and recorded as a gap
 * (`audit.gap`) with the first record that gets through again.
 */
import type { Clock } from "../base/clock.ts";
import { toPortcullisError } from "../errors.ts";
import type { RecordInput, Records } from "../store/store.ts";

export interface Recorder {
  /** On disk when it resolves. @throws `audit_unavailable`. */
  durable(record: RecordInput): Promise<void>;
  /** On disk when it resolves, or counted as lost: what it tells has happened already. */
  closing(record: RecordInput): Promise<void>;
  /** Soon on disk, or counted as lost. @param count of what is in it; default 1. */
  batched(record: RecordInput, count?: number): void;
  /** True from a failure to the next record that gets through. */
  readonly isFailing: boolean;
}

export interface RecorderOptions {
  readonly records: Records;
  readonly clock: Clock;
  readonly onRecord: (record: RecordInput) => void;
  readonly onFault: (error: unknown) => void;
}

interface Gap {
  count: number;
  readonly fromMs: number;
  toMs: number;
}

export const GAP_KIND = "audit.gap";

export function createRecorder(options: RecorderOptions): Recorder {
  const { records, clock, onRecord, onFault } = options;
  let gap: Gap | undefined;

  const publish = (record: RecordInput): void => {
    try {
      onRecord(record);
    } catch (error) {
      onFault(error);
    }
  };

  const lose = (error: unknown, { at }: RecordInput, count: number): void => {
    if (gap === undefined) gap = { count, fromMs: at, toMs: at };
    else {
      gap.count += count;
      gap.toMs = Math.max(gap.toMs, at);
    }
    onFault(error);
  };

  /** Something got through: what was lost before can be told. */
  const recover = (): void => {
    if (gap === undefined) return;
    const { count, fromMs, toMs } = gap;
    gap = undefined;
    const record: RecordInput = {
      callId: "",
      kind: GAP_KIND,
      at: clock.now(),
      body: { lost: count, fromMs, toMs },
    };
    publish(record);
    records.append(record, "batched").catch((error: unknown) => {
      gap = { count: count + (gap?.count ?? 0), fromMs, toMs: gap?.toMs ?? toMs };
      onFault(error);
    });
  };

  return {
    async durable(record) {
      publish(record);
      try {
        await records.append(record, "durable");
      } catch (error) {
        throw toPortcullisError(error, "audit_unavailable");
      }
      recover();
    },
    async closing(record) {
      publish(record);
      try {
        await records.append(record, "durable");
      } catch (error) {
        lose(error, record, 1);
        return;
      }
      recover();
    },
    batched(record, count = 1) {
      publish(record);
      records.append(record, "batched").then(recover, (error: unknown) => lose(error, record, count));
    },
    get isFailing() {
      return gap !== undefined;
    },
  };
}
