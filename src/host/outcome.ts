/**
 * How a call ended, and what it did to the world. Pure: tables over codes, never over text.
 *
 * A call never throws for anything that a server, a person or the network did; all of that is an outcome.
 */
import type { JsonValue } from "../base/json.ts";
import { errorCodes, type ErrorCode, type PortcullisError } from "../errors.ts";
import type { ContentBlock } from "../protocol/types.ts";
import type { Effect, Finding, Grade, OutcomeKind } from "../vocabulary.ts";

/** What `turn.call()` returns and `call --json` prints. */
export interface Outcome {
  readonly callId: string;
  readonly server: string | null;
  readonly tool: string;
  /** `null` for an unknown tool. */
  readonly grade: Grade | null;
  readonly outcome: OutcomeKind;
  /** For everything but `completed`. */
  readonly code: ErrorCode | null;
  readonly effect: Effect;
  /** One sentence for a person. */
  readonly message: string;
  /** The person's channel: MCP content blocks, capped, never re-interpreted. */
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
  /** The model's channel: source-marked, cleaned, capped text; on failure what the model may do next. */
  readonly model: string;
  /** `invalid_arguments`: what to change. */
  readonly retryHint?: string;
  /** What a server that was lost said last on stderr: its own words, cleaned, secrets out. For people; never for a model. */
  readonly lastWords?: string;
  /** The content is the last good result of an unavailable server. */
  readonly stale?: { readonly asOf: string };
  /** The rest of an over-long result can be paged under this id. */
  readonly restId?: string;
  /** Until when the call can be taken back (ISO 8601): `portcullis undo CALL`. */
  readonly undoUntil?: string;
  readonly findings: readonly Finding[];
  readonly attempts: number;
  readonly durationMs: number;
}

const OUTCOME_OF_CODE: Readonly<Partial<Record<ErrorCode, OutcomeKind>>> = {
  tool_error: "tool_error",
  unknown_tool: "refused",
  invalid_arguments: "invalid_arguments",
  timed_out: "timed_out",
  cancelled: "cancelled",
  interrupted: "cancelled",
  auth_required: "auth_required",
  auth_failed: "auth_required",
  protocol_error: "protocol_error",
  remote_error: "protocol_error",
  message_too_large: "protocol_error",
  input_refused: "protocol_error",
  internal: "protocol_error",
};

/** The outcome that a failure of this code is. */
export function outcomeOf(code: ErrorCode): OutcomeKind {
  const outcome = OUTCOME_OF_CODE[code];
  if (outcome !== undefined) return outcome;
  return errorCodes[code].exitCode === 3 || code === "audit_unavailable" ? "refused" : "unavailable";
}

export interface EffectQuestion {
  readonly grade: Grade | null;
  /** Whether the second mark was made: bytes may have left. */
  readonly wasDispatched: boolean;
  /** An earlier attempt may have had its effect. */
  readonly isUncertain?: boolean | undefined;
  /** `null`: completed. */
  readonly error: PortcullisError | null;
}

/** What the call did to the world. `none` only where it is proven. */
export function effectOf({ grade, wasDispatched, isUncertain, error }: EffectQuestion): Effect {
  if (grade === "L0" || !wasDispatched) return "none";
  if (error === null) return "applied";
  return provesNoEffect(error) && isUncertain !== true ? "none" : "unknown";
}

/** The answer (or the failure to send) proves that the server did not run the call. */
export function provesNoEffect(error: PortcullisError): boolean {
  if (error.data["provesNoEffect"] === true || error.data["wasSent"] === false) return true;
  return error.code === "auth_required" || error.code === "queue_full" || error.code === "breaker_open";
}
