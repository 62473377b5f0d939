/**
 * Marks as bodies of records. Everything that may hold somebody's words or data goes through `redact` first and is cut
 * then, in this order, so that no secret survives as a half. Every body names principal, server and tool, so that a filter
 * finds all marks of a call.
 */
import { digestJson, type JsonObject, type JsonValue } from "../base/json.ts";
import { cutJson } from "./cut.ts";
import type { CallAttempt, CallClosed, CallDecided, CallOpened, LateAnswer } from "./marks.ts";
import type { Grade } from "../vocabulary.ts";

/** Takes secrets out of a value; a function of `text/redact`, given from outside. */
export type Redact = (value: JsonValue) => JsonValue;

export interface RecordBodies {
  opened(call: CallOpened): JsonObject;
  decided(decision: CallDecided): JsonObject;
  closed(outcome: CallClosed): JsonObject;
}

const MAX_ARGUMENTS = 16 * 1024;
const MAX_CONTEXT = 4 * 1024;
const MAX_MESSAGE = 300;
const MAX_FINDINGS = 20;
const MAX_REASONS = 20;
const NOT_REDACTED = "[left out: it could not be redacted]";

/** @param onFault told where `redact` throws; the value is then left out, the record is made. */
export function createRecordBodies(redact: Redact, onFault: (error: unknown) => void): RecordBodies {
  const clean = (value: JsonValue, maxCharacters: number): { readonly value: JsonValue; readonly isCut: boolean } => {
    try {
      return cutJson(redact(value), maxCharacters);
    } catch (error) {
      onFault(error);
      return { value: NOT_REDACTED, isCut: true };
    }
  };

  const cleanArguments = (given: JsonValue, digest: string | undefined): JsonObject => {
    const { value, isCut } = clean(given, MAX_ARGUMENTS);
    const body: JsonObject = { arguments: value, argumentsDigest: digest ?? digestOf(given) };
    if (isCut) body["argumentsCut"] = true;
    return body;
  };

  const cleanText = (text: string): string => String(clean(text, MAX_MESSAGE).value);

  const cleanFindings = (findings: CallClosed["findings"]): JsonValue[] =>
    (findings ?? []).slice(0, MAX_FINDINGS).map(({ rule, severity, where, message }) => ({
      rule,
      severity,
      where: cleanText(where),
      message: cleanText(message),
    }));

  return {
    opened(call) {
      const body: JsonObject = { grade: call.grade, ...cleanArguments(call.arguments, call.argumentsDigest) };
      if (call.context !== undefined) body["context"] = clean(call.context, MAX_CONTEXT).value;
      return body;
    },
    decided(decision) {
      const body: JsonObject = {
        decision: decision.decision,
        grade: decision.grade,
        reasons: decision.reasons.slice(0, MAX_REASONS).map(({ rule, message }) => ({ rule, message: cleanText(message) })),
      };
      for (const name of ["gradeFrom", "code", "approvedBy", "channel"] as const) {
        const value = decision[name];
        if (value !== undefined) body[name] = value;
      }
      if (decision.basis !== undefined) body["basis"] = { kind: decision.basis.kind, id: decision.basis.id };
      if (decision.arguments !== undefined) Object.assign(body, cleanArguments(decision.arguments, undefined));
      if (decision.findings !== undefined && decision.findings.length > 0) body["findings"] = cleanFindings(decision.findings);
      return body;
    },
    closed(outcome) {
      const { code, effect, durationMs, attempts } = outcome;
      const body: JsonObject = { outcome: outcome.outcome, code, effect, durationMs: Math.round(durationMs), attempts };
      if (outcome.message !== undefined) body["message"] = cleanText(outcome.message);
      if (outcome.findings !== undefined && outcome.findings.length > 0) body["findings"] = cleanFindings(outcome.findings);
      if (outcome.resultBytes !== undefined) body["resultBytes"] = outcome.resultBytes;
      if (outcome.undoUntil !== undefined) body["undoUntil"] = Math.round(outcome.undoUntil);
      return body;
    },
  };
}

export function dispatchedBody(grade: Grade | null): JsonObject {
  return { grade };
}

export function attemptBody(number: number, { code, durationMs }: CallAttempt): JsonObject {
  return { number, code, durationMs: Math.round(durationMs) };
}

export function lateBody({ outcome }: LateAnswer): JsonObject {
  return { outcome };
}

/** `null` for a value too deep to be written down. */
function digestOf(value: JsonValue): string | null {
  try {
    return digestJson(value);
  } catch {
    return null;
  }
}
