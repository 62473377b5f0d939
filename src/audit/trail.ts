/**
 * The trails of calls: marks as they happen, made durable where they decide what a crash means. Invariants:
 * - a call that may write is on disk as `opened` before anybody is asked, and as `dispatched` before a byte leaves;
 *   where that cannot be written it fails, and nothing is sent;
 * - a call that only reads costs next to nothing on its way: its marks are held for a moment, and short ones share a record
 *   (`finished.ts`). While the disk fails it waits for it too, and is refused with the others;
 * - closing never fails a call that has happened: what is lost is counted and told later (`recorder.ts`).
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { createRoster } from "../base/roster.ts";
import { PortcullisError } from "../errors.ts";
import type { RecordInput, Records } from "../store/store.ts";
import { createCallTrail, openedRecord, type OpenTrail, type Trail } from "./call-trail.ts";
import type { CallClosed, CallDecided, CallOpened } from "./marks.ts";
import { toFinishedRecords, type FinishedCall } from "./finished.ts";
import { createRecordBodies, type Redact } from "./record-body.ts";
import { createRecorder } from "./recorder.ts";

export interface Audit {
  /**
   * The first mark. For L1 and up it is on disk when this resolves; otherwise there is nothing to wait for.
   *
   * @throws `audit_unavailable`, or `interrupted` after `close`: the call must not go on.
   */
  open(call: CallOpened): Trail | Promise<Trail>;
  /** A call that was decided against before anybody was asked or anything sent: one record, of whatever grade. */
  refused(call: CallOpened, outcome: CallClosed, decision?: CallDecided): void;
  /** Another event than a call: a change of the configuration, an acceptance, a login. @throws `audit_unavailable`. */
  note(kind: string, body: JsonObject): Promise<void>;
  /** What is held goes to the store, which may lag behind by its own batch. */
  release(): void;
  /** Closes every open call as interrupted. The store stays open, and has still to be flushed. */
  close(): Promise<void>;
}

export interface AuditOptions {
  readonly records: Records;
  readonly clock: Clock;
  readonly redact: Redact;
  /** Told every record as it is given to the store. */
  readonly onRecord?: (record: RecordInput) => void;
  /** Told what could not be recorded or redacted. */
  readonly onFault?: (error: unknown) => void;
}

/** The batch of the store that goes with it: what only reads is at most 50 ms behind. */
export const AUDIT_BATCH_MS = 10;
const HELD_MS = 50 - AUDIT_BATCH_MS;
/** How often held trails grow older: one that is released was held for one whole turn, so that short calls never are. */
const TURN_MS = HELD_MS / 2;
/** Calls that are over and wait for the end of the turn. */
const MAX_FINISHED = 512;

const ignore = (): void => undefined;

const closedError = (): PortcullisError => new PortcullisError("interrupted", "the audit is closed");

export function createAudit(options: AuditOptions): Audit {
  const { records, clock, redact, onRecord = ignore, onFault = ignore } = options;
  const recorder = createRecorder({ records, clock, onRecord, onFault });
  const bodies = createRecordBodies(redact, onFault);
  const open = createRoster<OpenTrail>();
  /** Trails opened in this turn and in the one before; those that are closed by their release are passed over. */
  let young: OpenTrail[] = [];
  let old: OpenTrail[] = [];
  /** Calls that were over before any of it was written. */
  let finished: FinishedCall[] = [];
  let timer: Timer | undefined;
  let isClosed = false;

  const release = (): void => {
    timer?.cancel();
    timer = undefined;
    const trails = [...old, ...young];
    old = [];
    young = [];
    writeFinished();
    for (const trail of trails) trail.release();
  };

  const writeFinished = (): void => {
    if (finished.length === 0) return;
    const calls = finished;
    finished = [];
    for (const { record, calls: count } of toFinishedRecords(calls, bodies)) recorder.batched(record, count);
  };

  const growOlder = (): void => {
    const due = old;
    old = young;
    young = [];
    timer = old.length === 0 ? undefined : clock.timer(TURN_MS, growOlder);
    writeFinished();
    for (const trail of due) trail.release();
  };

  const onFinished = (call: FinishedCall): void => {
    finished.push(call);
    if (finished.length >= MAX_FINISHED || isClosed) writeFinished();
    else timer ??= clock.timer(TURN_MS, growOlder);
  };

  const create = (call: CallOpened, isHeld: boolean): OpenTrail => {
    const onClosed = (): void => void open.remove(seat);
    const trail = createCallTrail({ call, clock, bodies, recorder, onClosed, onFinished }, isHeld);
    const seat = open.add(trail);
    return trail;
  };

  const openDurably = async (call: CallOpened): Promise<OpenTrail> => {
    await recorder.durable(openedRecord(call, clock, bodies));
    const trail = create(call, false);
    if (isClosed) {
      await trail.interrupt();
      throw closedError();
    }
    return trail;
  };

  return {
    open(call) {
      if (isClosed) return Promise.reject(closedError());
      const mustWait =
        call.grade === "L1" || call.grade === "L2" || call.grade === "L3" || recorder.isFailing;
      if (!mustWait) {
        const trail = create(call, true);
        young.push(trail);
        timer ??= clock.timer(TURN_MS, growOlder);
        return trail;
      }
      return openDurably(call);
    },
    refused(call, outcome, decision) {
      const trail = create(call, true);
      if (decision !== undefined) trail.decided(decision);
      void trail.closed(outcome);
    },
    note: (kind, body) => recorder.durable({ callId: "", kind, at: clock.now(), body }),
    release,
    async close() {
      isClosed = true;
      release();
      await Promise.all(open.list().map(async (trail) => trail.interrupt()));
    },
  };
}
