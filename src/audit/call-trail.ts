/**
 * One call's trail. A call that only reads is *held*: its marks stay in memory until it closes (one `call` record) or has
 * lasted too long for that (`release`, then marks as they come). A call that may write is *written* from the start.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { RecordInput } from "../store/store.ts";
import { higherGrade, type Effect } from "../vocabulary.ts";
import {
  isWriting,
  type CallAttempt,
  type CallClosed,
  type CallDecided,
  type CallOpened,
  type CallRecordKind,
  type LateAnswer,
} from "./marks.ts";
import {
  attemptBody,
  dispatchedBody,
  lateBody,
  toBody,
  toCallBody,
  type Facts,
  type RecordBodies,
} from "./record-body.ts";
import type { Recorder } from "./recorder.ts";

export interface Trail {
  readonly callId: string;
  /** A decision; the last one counts. A higher grade than before makes the following marks durable. */
  decided(decision: CallDecided): void;
  /**
   * The mark just before bytes leave. For L1 and up it is on disk when this resolves.
   *
   * @throws `audit_unavailable`: nothing may be sent. `internal` where the call is closed already.
   */
  dispatched(): Promise<void>;
  /** @param number 1, 2, 3, … */
  attempt(number: number, outcome: CallAttempt): void;
  /** The end; a second one is ignored. Resolves when it is on disk (at once for L0); never rejects. */
  closed(outcome: CallClosed): Promise<void>;
  /** An answer after the end; only the first is marked. A success means that the call was applied after all. */
  late(answer?: LateAnswer): void;
}

export interface OpenTrail extends Trail {
  readonly call: CallOpened;
  /** Writes down what is held, because it has been held long enough. */
  release(): void;
  /** Closes it as interrupted, with the effect that it may have had so far. */
  interrupt(): Promise<void>;
}

export interface CallTrailOptions {
  readonly call: CallOpened;
  readonly clock: Clock;
  readonly bodies: RecordBodies;
  readonly recorder: Recorder;
  /** Called once, when the call is closed. */
  readonly onClosed: (trail: OpenTrail) => void;
}

const DONE = Promise.resolve();

/** The record of the opening mark: what has to be on disk before a writing call goes on. */
export function openedRecord({ call, clock, bodies }: CallTrailOptions): RecordInput {
  return toRecord(call, "opened", clock.now(), bodies.opened(call));
}

/** @param isHeld whether the opening mark is still to be written. */
export function createCallTrail(options: CallTrailOptions, isHeld: boolean): OpenTrail {
  const { call, clock, bodies, recorder, onClosed } = options;
  const openedAt = clock.now();
  const openedMonotonic = clock.monotonic();
  let state: "held" | "written" | "closed" = isHeld ? "held" : "written";
  let { grade } = call;
  let dispatchedAt: number | undefined;
  let attempts = 0;
  let isLate = false;
  /** Marks since the opening one, while held; made into bodies only when they are written. */
  let held: { readonly kind: CallRecordKind; readonly at: number; readonly makeFacts: () => Facts }[] = [];

  const mark = (kind: CallRecordKind, makeFacts: () => Facts): void => {
    if (state === "held") held.push({ kind, at: clock.now(), makeFacts });
    else recorder.batched(toRecord(call, kind, clock.now(), makeFacts()));
  };

  const release = (): void => {
    if (state !== "held") return;
    state = "written";
    recorder.batched(toRecord(call, "opened", openedAt, bodies.opened(call)));
    for (const { kind, at, makeFacts } of held) recorder.batched(toRecord(call, kind, at, makeFacts()));
    held = [];
  };

  /** The whole call as one record. */
  const toCallRecord = (outcome: CallClosed): RecordInput => {
    const tried = held.filter(({ kind }) => kind === "attempt");
    const body = toCallBody(call, {
      opened: bodies.opened(call),
      // One attempt says nothing that the end does not say.
      attempts: tried.length > 1 ? tried.map(({ makeFacts }) => makeFacts()) : undefined,
      closed: bodies.closed(outcome),
      closedAt: clock.now(),
      decided: held.findLast(({ kind }) => kind === "decided")?.makeFacts(),
      dispatchedAt,
    });
    return { callId: call.callId, kind: "call", at: openedAt, body };
  };

  const trail: OpenTrail = {
    call,
    callId: call.callId,
    decided(decision) {
      if (decision.grade !== null)
        grade = grade === null ? decision.grade : higherGrade(grade, decision.grade);
      mark("decided", () => bodies.decided(decision));
    },
    dispatched() {
      if (state === "closed") {
        return Promise.reject(
          new PortcullisError("internal", `call \`${call.callId}\` is closed: it must not be sent`),
        );
      }
      dispatchedAt = clock.now();
      if (!isWriting(grade)) {
        mark("dispatched", () => dispatchedBody(grade));
        return DONE;
      }
      release();
      return recorder.durable(toRecord(call, "dispatched", dispatchedAt, dispatchedBody(grade)));
    },
    attempt(number, outcome) {
      attempts = number;
      mark("attempt", () => attemptBody(number, outcome));
    },
    closed(outcome) {
      if (state === "closed") return DONE;
      const wasHeld = state === "held";
      const record = wasHeld
        ? toCallRecord(outcome)
        : toRecord(call, "closed", clock.now(), bodies.closed(outcome));
      state = "closed";
      held = [];
      onClosed(trail);
      if (isWriting(grade) && !wasHeld) return recorder.closing(record);
      recorder.batched(record);
      return DONE;
    },
    late(answer = { outcome: "completed" }) {
      if (isLate) return;
      isLate = true;
      recorder.batched(toRecord(call, "late", clock.now(), lateBody(answer)));
    },
    release,
    interrupt() {
      const effect: Effect = dispatchedAt !== undefined && isWriting(grade) ? "unknown" : "none";
      const durationMs = clock.monotonic() - openedMonotonic;
      return trail.closed({ outcome: "cancelled", code: "interrupted", effect, durationMs, attempts });
    },
  };
  return trail;
}

function toRecord(call: CallOpened, kind: CallRecordKind, at: number, facts: Facts): RecordInput {
  return { callId: call.callId, kind, at, body: toBody(call, facts) };
}
