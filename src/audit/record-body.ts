/**
 * Marks as bodies of records. Everything that may hold somebody's words or data goes through `redact` first and is cut
 * then, in this order, so that no secret survives as a half. Every body names principal, server and tool, so that a filter
 * finds all marks of a call.
 */
import { digestJson, type JsonObject, type JsonValue } from "../base/json.ts";
import { cutJson } from "./cut.ts";
import type { CallAttempt, CallClosed, CallDecided, CallOpened, LateAnswer } from "./marks.ts";
import type { Finding, Grade } from "../vocabulary.ts";

/** Takes secrets out of a value; a function of `text/redact`, given from outside. */
export type Redact = (value: JsonValue) => JsonValue;

/** Members in the order of their names, as in canonical JSON; one that is `undefined` is left out when it is written. */
export type Facts = Readonly<Record<string, JsonValue | undefined>>;

export interface RecordBodies {
  opened(call: CallOpened): Facts;
  decided(decision: CallDecided): Facts;
  closed(outcome: CallClosed): Facts;
}

interface Cleaned {
  readonly value: JsonValue;
  readonly isCut: boolean;
  /** Nothing was taken out. */
  readonly isWhole: boolean;
}

const MAX_ARGUMENTS = 16 * 1024;
const MAX_CONTEXT = 4 * 1024;
const MAX_MESSAGE = 300;
const MAX_FINDINGS = 20;
const MAX_REASONS = 20;
const NOT_REDACTED = "[left out: it could not be redacted]";

/** @param onFault told where `redact` throws; the value is then left out, the record is made. */
export function createRecordBodies(redact: Redact, onFault: (error: unknown) => void): RecordBodies {
  const clean = (value: JsonValue, maxCharacters: number): Cleaned => {
    try {
      const redacted = redact(value);
      const { value: kept, isCut } = cutJson(redacted, maxCharacters);
      return { value: kept, isCut, isWhole: redacted === value && !isCut };
    } catch (error) {
      onFault(error);
      return { value: NOT_REDACTED, isCut: true, isWhole: false };
    }
  };

  /** The last context: calls of one turn share theirs, and come one after another. */
  let last: { readonly context: JsonObject; readonly cleaned: JsonValue } | undefined;
  const cleanContext = (context: JsonObject): JsonValue => {
    if (last?.context !== context) last = { context, cleaned: clean(context, MAX_CONTEXT).value };
    return last.cleaned;
  };

  /** What is recorded whole needs no digest beside it: whoever wants it makes it. */
  const cleanArguments = (given: JsonValue, digest: (() => string) | undefined): Facts => {
    const { value, isCut, isWhole } = clean(given, MAX_ARGUMENTS);
    return {
      arguments: value,
      argumentsCut: isCut ? true : undefined,
      argumentsDigest: isWhole ? undefined : digestOf(given, digest),
    };
  };

  const cleanText = (text: string): string => {
    try {
      const value = redact(text);
      if (typeof value !== "string") return NOT_REDACTED;
      return value.length <= MAX_MESSAGE ? value : `${value.slice(0, MAX_MESSAGE)}…`;
    } catch (error) {
      onFault(error);
      return NOT_REDACTED;
    }
  };

  const cleanFindings = (findings: readonly Finding[] | undefined): JsonValue | undefined =>
    findings === undefined || findings.length === 0
      ? undefined
      : findings.slice(0, MAX_FINDINGS).map(({ message, rule, severity, where }) => ({
          message: cleanText(message),
          rule,
          severity,
          where: cleanText(where),
        }));

  return {
    opened: (call) => ({
      ...cleanArguments(call.arguments, call.argumentsDigest),
      context: call.context === undefined ? undefined : cleanContext(call.context),
      grade: call.grade,
    }),
    decided: (decision) => {
      const { answers, approvedBy, basis, channel, code, grade, gradeFrom, reasons } = decision;
      const changed = decision.arguments === undefined ? {} : cleanArguments(decision.arguments, undefined);
      return {
        answers: answers?.map(({ at, by, channel: through }) => ({
          at,
          by: cleanText(by),
          channel: through,
        })),
        approvedBy,
        ...changed,
        basis: basis === undefined ? undefined : { id: basis.id, kind: basis.kind },
        channel,
        code,
        decision: decision.decision,
        findings: cleanFindings(decision.findings),
        grade,
        gradeFrom,
        reasons: reasons
          .slice(0, MAX_REASONS)
          .map(({ message, rule }) => ({ message: cleanText(message), rule })),
      };
    },
    closed: ({ attempts, code, durationMs, effect, findings, message, outcome, resultBytes, undoUntil }) => ({
      attempts,
      code,
      durationMs: Math.round(durationMs),
      effect,
      findings: cleanFindings(findings),
      message: message === undefined ? undefined : cleanText(message),
      outcome,
      resultBytes,
      undoUntil: undoUntil === undefined ? undefined : Math.round(undoUntil),
    }),
  };
}

/** What the record of a whole call holds beside its opening. */
export interface WholeCall {
  readonly opened: Facts;
  readonly attempts: readonly Facts[] | undefined;
  readonly closed: Facts;
  readonly closedAt: number;
  readonly decided: Facts | undefined;
  readonly dispatchedAt: number | undefined;
}

/** The body of a mark's record: its facts and whose they are. */
export function toBody({ principal, server, tool }: CallOpened, facts: Facts): JsonObject {
  return { ...facts, principal, server, tool } as JsonObject;
}

/** The body of an `opened` record that is written late, with what happened since. */
export function toOpenedBody(
  call: CallOpened,
  { opened, decided, dispatchedAt }: Pick<WholeCall, "opened" | "decided" | "dispatchedAt">,
): JsonObject {
  return toBody(call, { ...opened, decided: decided as JsonValue | undefined, dispatchedAt });
}

/** The body of a `call` record. Its members stand in order, down to the leaves: that is quick to write. */
export function toCallBody({ principal, server, tool }: CallOpened, whole: WholeCall): JsonObject {
  const { opened, attempts, closed, closedAt, decided, dispatchedAt } = whole;
  const body = {
    arguments: opened["arguments"],
    argumentsCut: opened["argumentsCut"],
    argumentsDigest: opened["argumentsDigest"],
    attempts,
    closed,
    closedAt,
    context: opened["context"],
    decided,
    dispatchedAt,
    grade: opened["grade"],
    principal,
    server,
    tool,
  };
  return body as unknown as JsonObject;
}

/** One of the calls in a `calls` record. */
export interface SharedCall {
  readonly call: CallOpened;
  readonly at: number;
  readonly whole: WholeCall;
}

/**
 * The body of a `calls` record: what all its calls have in common stands once, beside them. In order as well.
 *
 * @param decided where one decision was made for all; the calls then bring none.
 */
export function toSharedBody(
  { principal, server, tool }: CallOpened,
  calls: readonly SharedCall[],
  decided: Facts | undefined,
): JsonObject {
  const contexts = calls.map(({ whole }) => whole.opened["context"]);
  const context = commonMembers(contexts);
  const closed = commonMembers(calls.map(({ whole }) => whole.closed));
  const items = calls.map(({ call, at, whole }) => ({
    arguments: whole.opened["arguments"],
    argumentsCut: whole.opened["argumentsCut"],
    argumentsDigest: whole.opened["argumentsDigest"],
    at,
    attempts: whole.attempts,
    callId: call.callId,
    closed: without(whole.closed, closed),
    closedAt: whole.closedAt,
    context: without(whole.opened["context"], context),
    decided: whole.decided,
    dispatchedAt: whole.dispatchedAt,
    grade: whole.opened["grade"],
  }));
  return { calls: items, closed, context, decided, principal, server, tool } as unknown as JsonObject;
}

type Members = Facts | JsonValue | undefined;

/** The members that are the same text, number, boolean or `null` in all of `values`, in the order of the first. */
function commonMembers(values: readonly Members[]): Facts {
  const [first] = values;
  const common: Record<string, JsonValue> = {};
  if (!isMembers(first)) return common;
  for (const name of Object.keys(first)) {
    const value = first[name];
    if (value === undefined || (typeof value === "object" && value !== null)) continue;
    if (values.every((other) => other === first || (isMembers(other) && other[name] === value)))
      common[name] = value;
  }
  return common;
}

/** `undefined` where nothing of its own is left. */
function without(value: Members, common: Facts): Members {
  if (!isMembers(value)) return value;
  let own: Record<string, JsonValue> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined || Object.hasOwn(common, name)) continue;
    own ??= {};
    own[name] = member;
  }
  return own;
}

function isMembers(value: Members): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function dispatchedBody(grade: Grade | null): Facts {
  return { grade };
}

export function attemptBody(number: number, { code, durationMs }: CallAttempt): Facts {
  return { code, durationMs: Math.round(durationMs), number };
}

export function lateBody({ outcome }: LateAnswer): Facts {
  return { outcome };
}

/** `null` for a value too deep to be written down. */
function digestOf(value: JsonValue, digest = (): string => digestJson(value)): string | null {
  try {
    return digest();
  } catch {
    return null;
  }
}
