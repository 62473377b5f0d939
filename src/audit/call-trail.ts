/**
 * One call's trail. A call that only reads is *held*: its marks stay in memory until it is over (`onFinished`) or has lasted
 * too long for that (`release`, then marks as they come). A call that may write is *written* from the start.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { RecordInput } from "../store/store.ts";
import { higherGrade, type Effect, type Grade } from "../vocabulary.ts";
import type { FinishedCall, Tried } from "./finished.ts";
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
  return new CallTrail(options, isHeld);
}

/** Something with an identity and a life, of which every call makes one. */
class CallTrail implements OpenTrail {
  readonly call: CallOpened;
  readonly callId: string;
  readonly #options: CallTrailOptions;
  readonly #openedAt: number;
  readonly #openedMonotonic: number;
  #state: "held" | "written" | "closed";
  #grade: Grade | null;
  #decision: CallDecided | undefined;
  #dispatchedAt: number | undefined;
  #attempts = 0;
  #isLate = false;
  /** Attempts while held, where there was more than one or it failed: one good one says nothing that the end does not say. */
  #tried: Tried[] | undefined;

  constructor(options: CallTrailOptions, isHeld: boolean) {
    const { call, clock } = options;
    this.call = call;
    this.callId = call.callId;
    this.#options = options;
    this.#openedAt = clock.now();
    this.#openedMonotonic = clock.monotonic();
    this.#state = isHeld ? "held" : "written";
    this.#grade = call.grade;
  }

  decided(decision: CallDecided): void {
    const { grade } = decision;
    this.#decision = decision;
    if (grade !== null) this.#grade = this.#grade === null ? grade : higherGrade(this.#grade, grade);
    if (this.#state !== "held") this.#mark("decided", this.#options.bodies.decided(decision));
  }

  dispatched(): Promise<void> | undefined {
    if (this.#state === "closed") {
      return Promise.reject(
        new PortcullisError("internal", `call \`${this.callId}\` is closed: it must not be sent`),
      );
    }
    const { clock, recorder } = this.#options;
    const now = clock.now();
    const body = dispatchedBody(this.#grade);
    if (!isWriting(this.#grade)) {
      this.#dispatchedAt = now;
      if (this.#state !== "held") this.#mark("dispatched", body);
      return undefined;
    }
    this.release();
    this.#dispatchedAt = now;
    return recorder.durable(toRecord(this.call, "dispatched", now, body));
  }

  attempt(number: number, attempt: CallAttempt): void {
    this.#attempts = number;
    const isTold = number > 1 || attempt.code !== null;
    if (this.#state !== "held") {
      if (isTold || isWriting(this.#grade)) this.#mark("attempt", attemptBody(number, attempt));
    } else if (isTold) {
      this.#tried ??= [];
      this.#tried.push({ number, attempt });
    }
  }

  closed(outcome: CallClosed): Promise<void> | undefined {
    if (this.#state === "closed") return undefined;
    const { call } = this;
    const { clock, bodies, recorder, onClosed, onFinished } = this.#options;
    const wasHeld = this.#state === "held";
    this.#state = "closed";
    onClosed();
    if (wasHeld) {
      onFinished({
        call,
        openedAt: this.#openedAt,
        decision: this.#decision,
        dispatchedAt: this.#dispatchedAt,
        tried: this.#tried,
        outcome,
        closedAt: clock.now(),
      });
      return undefined;
    }
    const record = toRecord(call, "closed", clock.now(), bodies.closed(outcome));
    if (isWriting(this.#grade)) return recorder.closing(record);
    recorder.batched(record);
    return undefined;
  }

  late(answer: LateAnswer = { outcome: "completed" }): void {
    if (this.#isLate) return;
    this.#isLate = true;
    this.#mark("late", lateBody(answer));
  }

  release(): void {
    if (this.#state !== "held") return;
    this.#state = "written";
    const { call } = this;
    const { bodies, recorder } = this.#options;
    const body = toOpenedBody(call, {
      opened: bodies.opened(call),
      decided: this.#decision === undefined ? undefined : bodies.decided(this.#decision),
      dispatchedAt: this.#dispatchedAt,
    });
    recorder.batched({ callId: call.callId, kind: "opened", at: this.#openedAt, body });
    for (const { number, attempt } of this.#tried ?? []) this.#mark("attempt", attemptBody(number, attempt));
  }

  interrupt(): Promise<void> | undefined {
    const effect: Effect = this.#dispatchedAt !== undefined && isWriting(this.#grade) ? "unknown" : "none";
    const durationMs = this.#options.clock.monotonic() - this.#openedMonotonic;
    const attempts = this.#attempts;
    return this.closed({ outcome: "cancelled", code: "interrupted", effect, durationMs, attempts });
  }

  #mark(kind: CallRecordKind, facts: Facts): void {
    const { clock, recorder } = this.#options;
    recorder.batched(toRecord(this.call, kind, clock.now(), facts));
  }
}

function toRecord(call: CallOpened, kind: CallRecordKind, at: number, facts: Facts): RecordInput {
  return { callId: call.callId, kind, at, body: toBody(call, facts) };
}
