/**
 * The words that every module shares, as types: grade, effect, outcome, finding, connection key. Their meaning is told in
 * ARCHITECTURE.md; nothing here does anything.
 */

/** `L0` read · `L1` reversible write · `L2` hard to reverse (the default) · `L3` irreversible, money, law · `off`. */
export type Grade = "L0" | "L1" | "L2" | "L3" | "off";

/** Grades in rising order of danger. */
export const GRADES: readonly Grade[] = ["L0", "L1", "L2", "L3", "off"];

/** The more dangerous of two grades. */
export function higherGrade(one: Grade, other: Grade): Grade {
  return GRADES.indexOf(one) >= GRADES.indexOf(other) ? one : other;
}

/** Why a server is trusted at all; told by the operator, never by the server. */
export type Source = "official" | "own" | "audited";

/** Who a call is for: `local`, a user id, an API key's owner. */
export type Principal = string;

/** What a call did to the world. */
export type Effect = "none" | "applied" | "unknown";

/**
 * W3C Trace Context of one request, as it travels in `_meta` (SEP-414); values that do not have the W3C form are not sent.
 * `baggage` holds what its writer put there: it goes to a server only where a program says so.
 */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** How a call ended. */
export type OutcomeKind =
  | "completed"
  | "tool_error"
  | "invalid_arguments"
  | "refused"
  | "timed_out"
  | "cancelled"
  | "unavailable"
  | "auth_required"
  | "protocol_error"
  | "pending";

/** Server × credential. Pool, era, catalog, caches, breaker and health are keyed by it. */
export interface ConnectionKey {
  readonly server: string;
  /** `shared`, or the principal whose credential is used. */
  readonly credential: typeof SHARED_CREDENTIAL | (Principal & {});
}

/** The credential of connections that every principal uses. */
export const SHARED_CREDENTIAL = "shared";

/** A connection key as one string, for maps and the store. Server names hold no white space. */
export function connectionId(key: ConnectionKey): string {
  return `${key.server} ${key.credential}`;
}

/** What an approval is bound to: who, which tool, exactly which arguments, which definition of the tool. */
export interface CallBinding {
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  /** `digestJson` of the arguments as they will be sent. */
  readonly digest: string;
  /** The pin of the definition that was accepted. */
  readonly pin: string;
}

/** Whether two bindings name the very same call. */
export function isSameBinding(one: CallBinding, other: CallBinding): boolean {
  return (
    one.principal === other.principal &&
    one.server === other.server &&
    one.tool === other.tool &&
    one.digest === other.digest &&
    one.pin === other.pin
  );
}

export type Severity = "note" | "low" | "high";

/** Something suspicious in a description, a result or arguments. */
export interface Finding {
  /** Dotted rule id, for example `injection.override`, `hidden.bidi`, `secret.github-token`, `catalog.duplicate-name`. */
  readonly rule: string;
  readonly severity: Severity;
  /** Where: a JSON pointer, a block number, a field name. */
  readonly where: string;
  /** One plain sentence, cleaned, at most 300 characters. Never the secret itself. */
  readonly message: string;
}
