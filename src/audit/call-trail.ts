/**
 * One call's trail. A call that only reads is *held*: its marks stay in memory until it is over (`onFinished`) or has lasted
 * too long for that (`release`, then marks as they come). A call that may write is *written* from the start.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { RecordInput } from "../store/store.ts";
import { higherGrade, type Effect } from "../vocabulary.ts";
import type { FinishedCall } from "./finished.ts";
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
  toOpenedBody,
  type Facts,
  type RecordBodies,
} from "./record-body.ts";
import type { Recorder } from "./recorder.ts";

export interface Trail {
  readonly callId: string;
  /** A decision; the last one counts. A higher grade than before makes the following marks durable. */
  decided(decision: CallDecided): void;
  /**
   * The mark just before bytes leave. For L1 and up it is on disk when this resolves; otherwise there is nothing to wait for.
   *
   * @throws `audit_unavailable`: nothing may be sent. `internal` where the call is closed already.
   */
  dispatched(): Promise<void> | undefined;
  /** @param number 1, 2, 3, … */
  attempt(number: number, outcome: CallAttempt): void;
  /** The end; a second one is ignored. Resolves when it is on disk, never rejects; for L0 there is nothing to wait for. */
  closed(outcome: CallClosed): Promise<void> | undefined;
  /** An answer after the end; only the first is marked. A success means that the call was applied after all. */
  late(answer?: LateAnswer): void;
}

export interface OpenTrail extends Trail {
  /** Writes down what is held, because it has been held long enough. */
  release(): void;
  /** Closes it as interrupted, with the effect that it may have had so far. */
  interrupt(): Promise<void> | undefined;
}

export interface CallTrailOptions {
  readonly call: CallOpened;
  readonly clock: Clock;
  readonly bodies: RecordBodies;
  readonly recorder: Recorder;
  /** Called once, when the call is closed. */
  readonly onClosed: () => void;
  /** Takes a call that was over before any of it was written. */
  readonly onFinished: (call: FinishedCall) => void;
}

/** The record of the opening mark: what has to be on disk before a writing call goes on. */
export function openedRecord(call: CallOpened, clock: Clock, bodies: RecordBodies): RecordInput {
  return toRecord(call, "opened", clock.now(), bodies.opened(call));
}

/** @param isHeld whether the opening mark is still to be written. */
export function createCallTrail(options: CallTrailOptions, isHeld: boolean): OpenTrail {
  const { call, clock, bodies, recorder, onClosed, onFinished } = options;
  const openedAt = clock.now();
  const openedMonotonic = clock.monotonic();
  let state: "held" | "written" | "closed" = isHeld ? "held" : "written";
  let { grade } = call;
  let decision: CallDecided | undefined;
  let dispatchedAt: number | undefined;
  let attempts = 0;
  let isLate = false;
  /** Attempts while held, where there was more than one or it failed: one good one says nothing that the end does not say. */
  let tried: { readonly number: number; readonly attempt: CallAttempt }[] = [];

  /** Made into a body only when it is written. */
  const mark = (kind: CallRecordKind, makeFacts: () => Facts): void => {
    if (state !== "held") recorder.batched(toRecord(call, kind, clock.now(), makeFacts()));
  };

  const release = (): void => {
    if (state !== "held") return;
    state = "written";
    const body = toOpenedBody(call, {
      opened: bodies.opened(call),
      decided: decision === undefined ? undefined : bodies.decided(decision),
      dispatchedAt,
    });
    recorder.batched({ callId: call.callId, kind: "opened", at: openedAt, body });
    for (const { number, attempt } of tried) mark("attempt", () => attemptBody(number, attempt));
    tried = [];
  };

  const trail: OpenTrail = {
    callId: call.callId,
    decided(next) {
      decision = next;
      if (next.grade !== null) grade = grade === null ? next.grade : higherGrade(grade, next.grade);
      mark("decided", () => bodies.decided(next));
    },
    dispatched() {
      if (state === "closed") {
        return Promise.reject(
          new PortcullisError("internal", `call \`${call.callId}\` is closed: it must not be sent`),
        );
      }
      const now = clock.now();
      if (!isWriting(grade)) {
        dispatchedAt = now;
        mark("dispatched", () => dispatchedBody(grade));
        return undefined;
      }
      release();
      dispatchedAt = now;
      return recorder.durable(toRecord(call, "dispatched", now, dispatchedBody(grade)));
    },
    attempt(number, attempt) {
      attempts = number;
      if (state === "held") {
        if (number > 1 || attempt.code !== null) tried.push({ number, attempt });
      } else if (number > 1 || attempt.code !== null || isWriting(grade)) {
        mark("attempt", () => attemptBody(number, attempt));
      }
    },
    closed(outcome) {
      if (state === "closed") return undefined;
      const wasHeld = state === "held";
      state = "closed";
      onClosed();
      if (wasHeld) {
        onFinished({ call, openedAt, decision, dispatchedAt, tried, outcome, closedAt: clock.now() });
        return undefined;
      }
      const record = toRecord(call, "closed", clock.now(), bodies.closed(outcome));
      if (isWriting(grade)) return recorder.closing(record);
      recorder.batched(record);
      return undefined;
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
