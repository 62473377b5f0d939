/**
 * The marks of a call, as the spine gives them: typed facts, without form. `record-body.ts` makes records of them.
 * Their order: opened, decided (once or more), dispatched, attempts, closed, late.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { ErrorCode } from "../errors.ts";
import type { Effect, Finding, Grade, OutcomeKind, Principal } from "../vocabulary.ts";

export interface CallOpened {
  readonly callId: string;
  readonly principal: Principal;
  /** `null` where the name fits no server. */
  readonly server: string | null;
  readonly tool: string;
  /** `null` for a tool that nobody knows. */
  readonly grade: Grade | null;
  /** As the caller gave them; redacted and cut before they are written. Nobody may change them afterwards. */
  readonly arguments: JsonValue;
  /** `digestJson(arguments)`, where the caller may have it already; asked for when the record is made. */
  readonly argumentsDigest?: () => string;
  /** What else is known: face, turn, conversation, pin, the call that this one undoes. Redacted and cut as well. */
  readonly context?: JsonObject;
}

export interface CallDecided {
  readonly decision: "allow" | "ask" | "deny";
  /** Rule id and one sentence each. */
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  /** The grade that the decision found, which arguments may have raised. */
  readonly grade: Grade | null;
  /** The path of the rule that gave the grade. */
  readonly gradeFrom?: string;
  /** For `deny`. */
  readonly code?: ErrorCode;
  /** Who said yes, where somebody was asked. */
  readonly approvedBy?: string;
  /** `terminal`, `console`, `callback`, `elicitation`. */
  readonly channel?: string;
  /** What people said, in order: one yes, two for L3, or one no. */
  readonly answers?: readonly { readonly by: string; readonly channel: string; readonly at: number }[];
  /** The approval or grant that it rests on. */
  readonly basis?: { readonly kind: "approval" | "grant"; readonly id: string };
  /** As they will be sent, where a guard or a person changed them. */
  readonly arguments?: JsonValue;
  readonly findings?: readonly Finding[];
}

/** How one attempt ended; `code` is `null` where it was answered. */
export interface CallAttempt {
  readonly code: ErrorCode | null;
  readonly durationMs: number;
}

export interface CallClosed {
  readonly outcome: OutcomeKind;
  readonly code: ErrorCode | null;
  readonly effect: Effect;
  readonly durationMs: number;
  readonly attempts: number;
  /** One sentence; redacted and cut. */
  readonly message?: string;
  readonly findings?: readonly Finding[];
  readonly resultBytes?: number;
  /** Milliseconds since the epoch. */
  readonly undoUntil?: number;
}

/** What came after the call was closed. */
export interface LateAnswer {
  readonly outcome: "completed" | "tool_error" | "remote_error";
}

/** Kinds of records of one call. A `call` record holds all marks of a call that was short and read only, a `calls` record several. */
export type CallRecordKind = "opened" | "decided" | "dispatched" | "attempt" | "closed" | "late" | "call";

/** True where what the call does must be on disk before it is sent: everything but reading. */
export function isWriting(grade: Grade | null): boolean {
  return grade !== "L0";
}
