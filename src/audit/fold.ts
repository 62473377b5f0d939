/**
 * Folds the records of a call into what is known of it, pure. What decides the effect:
 * - reading (L0): `none`; a success that came late: `applied`; closed: as it was closed;
 * - not closed: `none` before the dispatched mark, `unknown` from it on.
 * A call that was not closed is running where its writer lives, and was cut off where it does not: refused where nothing
 * was sent, cancelled where something may have been. Bodies are read as strangers': a damaged one makes the effect
 * `unknown`, never `none`.
 */
import { digestJson, isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { isErrorCode, type ErrorCode } from "../errors.ts";
import type { StoredRecord } from "../store/store.ts";
import { GRADES, higherGrade, type Effect, type Grade, type OutcomeKind } from "../vocabulary.ts";
import { readDecisions, type RecordedDecision } from "./decided.ts";
import { isWriting } from "./marks.ts";

export interface CallActivity {
  readonly callId: string;
  /** When it was opened; milliseconds since the epoch, like every time here. */
  readonly at: number;
  readonly principal: string;
  readonly server: string | null;
  readonly tool: string;
  readonly grade: Grade | null;
  /** `interrupted`: cut off by the end of its process. */
  readonly state: "running" | "closed" | "interrupted";
  /** `null` while it runs. */
  readonly outcome: OutcomeKind | null;
  readonly code: ErrorCode | null;
  /** What it did to the world; while it runs, what it may have done so far. */
  readonly effect: Effect;
  readonly durationMs: number | null;
  readonly attempts: number;
  readonly dispatchedAt: number | null;
  readonly approvedBy: string | null;
  /** What was decided, in order: the last one counts. */
  readonly decisions: readonly RecordedDecision[];
  readonly undoUntil: number | null;
  /** A success came after it was closed. */
  readonly isLate: boolean;
  readonly message: string | null;
  /** As recorded: redacted, and cut where `argumentsCut` says so. */
  readonly arguments: JsonValue;
  /** `digestJson` of the arguments as they were given. */
  readonly argumentsDigest: string | null;
  readonly argumentsCut: boolean;
  readonly context: JsonObject;
  /** Which process made the call. */
  readonly writer: string;
}

const OUTCOMES: ReadonlySet<unknown> = new Set<OutcomeKind>([
  "completed",
  "tool_error",
  "invalid_arguments",
  "refused",
  "timed_out",
  "cancelled",
  "unavailable",
  "auth_required",
  "protocol_error",
  "pending",
]);

/**
 * @param records all records of one call, in the order of commitment.
 * @param isLiving whether the process that writes as `writer` lives.
 * @returns `undefined` where the opening is not among them.
 */
export function foldCall(
  records: readonly StoredRecord[],
  isLiving: (writer: string) => boolean,
): CallActivity | undefined {
  const opening = records.find(({ kind }) => kind === "opened" || kind === "call");
  if (opening === undefined) return undefined;
  const { callId, at, body, writer } = opening;
  const decisions = records.filter(({ kind }) => kind === "decided").map((record) => record.body);
  const inOne = ownProperty(body, "decided");
  if (isJsonObject(inOne)) decisions.unshift(inOne);
  const dispatched = records.find(({ kind }) => kind === "dispatched");
  const dispatchedAt = dispatched?.at ?? number(body, "dispatchedAt");
  const grade = highest([body, ...decisions, ...(dispatched === undefined ? [] : [dispatched.body])]);
  const isLate = records.some(
    (record) => record.kind === "late" && ownProperty(record.body, "outcome") === "completed",
  );
  const closing = findClosing(records, opening);
  return {
    callId,
    at,
    principal: text(body, "principal") ?? "",
    server: text(body, "server"),
    tool: text(body, "tool") ?? "",
    grade,
    ...ending(closing, dispatchedAt !== null, isLiving(writer)),
    effect: effectOf(grade, dispatchedAt !== null, closing, isLate),
    attempts: (closing === undefined ? null : number(closing, "attempts")) ?? countAttempts(records),
    dispatchedAt,
    approvedBy:
      decisions.map((decision) => text(decision, "approvedBy")).findLast((by) => by !== null) ?? null,
    decisions: readDecisions(records),
    undoUntil: closing === undefined ? null : number(closing, "undoUntil"),
    isLate,
    arguments: (ownProperty(body, "arguments") as JsonValue | undefined) ?? null,
    argumentsDigest: text(body, "argumentsDigest") ?? digestOfWhole(body),
    argumentsCut: ownProperty(body, "argumentsCut") === true,
    context: object(ownProperty(body, "context")),
    writer,
  };
}

/** The facts of the end. A call's own process knows better than one that took it for dead. */
function findClosing(records: readonly StoredRecord[], opening: StoredRecord): JsonObject | undefined {
  if (opening.kind === "call") return object(ownProperty(opening.body, "closed"));
  const closings = records.filter(({ kind }) => kind === "closed");
  return (closings.find(({ writer }) => writer === opening.writer) ?? closings[0])?.body;
}

function ending(
  closing: JsonObject | undefined,
  wasDispatched: boolean,
  isLiving: boolean,
): Pick<CallActivity, "state" | "outcome" | "code" | "durationMs" | "message"> {
  if (closing === undefined) {
    if (isLiving) return { state: "running", outcome: null, code: null, durationMs: null, message: null };
    return {
      state: "interrupted",
      outcome: wasDispatched ? "cancelled" : "refused",
      code: "interrupted",
      durationMs: null,
      message: null,
    };
  }
  const outcome = ownProperty(closing, "outcome");
  const code = ownProperty(closing, "code");
  return {
    state: ownProperty(closing, "recovered") === true ? "interrupted" : "closed",
    outcome: OUTCOMES.has(outcome) ? (outcome as OutcomeKind) : null,
    code: isErrorCode(code) ? code : null,
    durationMs: number(closing, "durationMs"),
    message: text(closing, "message"),
  };
}

function effectOf(
  grade: Grade | null,
  wasDispatched: boolean,
  closing: JsonObject | undefined,
  isLate: boolean,
): Effect {
  if (!isWriting(grade)) return "none";
  if (isLate) return "applied";
  if (closing === undefined) return wasDispatched ? "unknown" : "none";
  const effect = ownProperty(closing, "effect");
  return effect === "none" || effect === "applied" ? effect : "unknown";
}

function highest(bodies: readonly JsonObject[]): Grade | null {
  let highestSoFar: Grade | null = null;
  for (const body of bodies) {
    const grade = GRADES.find((known) => known === ownProperty(body, "grade"));
    if (grade !== undefined) highestSoFar = highestSoFar === null ? grade : higherGrade(highestSoFar, grade);
  }
  return highestSoFar;
}

function countAttempts(records: readonly StoredRecord[]): number {
  return records.filter(({ kind }) => kind === "attempt").length;
}

function text(body: JsonObject, name: string): string | null {
  const value = ownProperty(body, name);
  return typeof value === "string" ? value : null;
}

/** Arguments that were recorded whole have no digest beside them. */
function digestOfWhole(body: JsonObject): string | null {
  const args = ownProperty(body, "arguments");
  if (args === undefined || Object.hasOwn(body, "argumentsDigest")) return null;
  try {
    return digestJson(args);
  } catch {
    return null;
  }
}

function number(body: JsonObject, name: string): number | null {
  const value = ownProperty(body, name);
  return typeof value === "number" ? value : null;
}

function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
