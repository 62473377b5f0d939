/**
 * What the model is told when a call did not complete, and what it may do next: our own words, never a server's. Built from
 * the code and the effect alone, so that the same end always reads the same.
 */
import { assertNever } from "../base/assert-never.ts";
import { errorCodes, type ErrorCode } from "../errors.ts";
import type { Effect, OutcomeKind } from "../vocabulary.ts";
import { quoteName } from "./frame.ts";

export interface UnfinishedOutcome {
  readonly server: string;
  readonly tool: string;
  readonly outcome: Exclude<OutcomeKind, "completed">;
  /** `null` only for `pending`. */
  readonly code: ErrorCode | null;
  readonly effect: Effect;
  /** What to change in the arguments, one line each; our words. */
  readonly hints?: readonly string[];
  /** The earliest time at which another try makes sense, in milliseconds from now. */
  readonly retryAfterMs?: number | null;
  /** Handle of a task or of a waiting approval. */
  readonly pendingId?: string | null;
  /** A server's own text, framed already by `channels.modelText`. */
  readonly framed?: string | null;
}

/** The model's channel for every outcome but `completed`. */
export function modelMessage(outcome: UnfinishedOutcome): string {
  const call = `Call of ${quoteName(outcome.tool)} of server ${quoteName(outcome.server)}`;
  const lines = [`${call}: ${describeEnd(outcome)}`, describeEffect(outcome), nextStep(outcome)];
  for (const hint of (outcome.hints ?? []).slice(0, 10)) lines.push(`- ${hint}`);
  if (outcome.framed !== undefined && outcome.framed !== null) lines.push(outcome.framed);
  return lines.filter((line) => line !== "").join("\n");
}

function describeEnd({ outcome, code }: UnfinishedOutcome): string {
  const reason = code === null ? "" : ` (${code})`;
  switch (outcome) {
    case "tool_error":
      return `the tool ran and reported an error${reason}.`;
    case "invalid_arguments":
      return `not made, because the arguments do not fit${reason}.`;
    case "refused":
      return `refused${reason}.`;
    case "timed_out":
      return `no answer in time${reason}.`;
    case "cancelled":
      return `cancelled${reason}.`;
    case "unavailable":
      return `the server cannot be reached now${reason}.`;
    case "auth_required":
      return `not made, because a person has to log in${reason}.`;
    case "protocol_error":
      return `the server's answer could not be used${reason}.`;
    case "pending":
      return "not finished yet; it goes on.";
    default:
      return assertNever(outcome);
  }
}

function describeEffect({ effect, outcome }: UnfinishedOutcome): string {
  if (outcome === "pending") return "";
  switch (effect) {
    case "none":
      return "Nothing was changed.";
    case "applied":
      return "It took effect: do not make it again.";
    case "unknown":
      return "It is not known whether it took effect: find out by reading before you make it again.";
    default:
      return assertNever(effect);
  }
}

/** Codes whose next step differs from that of their outcome. */
const STEPS: Partial<Record<ErrorCode, string>> = {
  unknown_tool: "Choose one of the tools that you were given.",
  approval_denied: "A person said no. Do not ask for the same again; tell the user, or find another way.",
  approval_expired: "Nobody answered in time. Tell the user; make the call again only when they ask for it.",
  approval_needed: "A person has to approve it first. Tell the user.",
  approval_stale: "It changed after it was asked for. Make the call again to ask anew.",
  confirmation_needed: "A person has to confirm it by name. Tell the user.",
  guard_denied: "Change the arguments so that they stay inside what is allowed.",
  guard_failed: "The check of the arguments could not run. Try once more later.",
  server_paused: "An operator has paused it. Go on without it.",
  tool_quarantined: "Its definition has to be reviewed by an operator. Go on without it.",
  tool_changed: "Its definition changed and has to be reviewed by an operator. Go on without it.",
  audit_unavailable: "It cannot be recorded at present, so it is not made. Tell the user.",
  rate_limited: "Too many calls. Wait before you try again.",
  queue_full: "Too many calls wait for this server. Make fewer at once, later.",
  retry_budget_spent: "Enough was tried in this turn. Go on without it.",
  message_too_large: "The answer is too large. Ask for less: a filter, a smaller range, fewer fields.",
  session_lost: "The server forgot the session. Make the call once more.",
  input_refused: "The server asked for something that it may not ask. Go on without it.",
};

function nextStep(outcome: UnfinishedOutcome): string {
  const { code, retryAfterMs, pendingId } = outcome;
  const after =
    retryAfterMs === undefined || retryAfterMs === null
      ? ""
      : ` Not before ${Math.ceil(retryAfterMs / 1_000)} seconds from now.`;
  const own = code === null ? undefined : STEPS[code];
  if (own !== undefined) return own + after;
  switch (outcome.outcome) {
    case "tool_error":
      return "Read its message below, then change the arguments or the approach.";
    case "invalid_arguments":
      return "Correct the arguments and make the call again:";
    case "refused":
      return "Do not try again: an operator would have to allow it. Tell the user.";
    case "timed_out":
      return outcome.effect === "none" ? `You may try once more, with less work in one call.${after}` : "";
    case "cancelled":
      return code === "interrupted"
        ? "The host was shut down meanwhile."
        : "Do not make it again unless the user asks for it.";
    case "unavailable":
      return code !== null && errorCodes[code].retry === "later"
        ? `Go on without it, or try again later.${after}`
        : "Go on without it. Tell the user.";
    case "auth_required":
      return "Tell the user that an operator has to log in to this server. Go on without it.";
    case "protocol_error":
      return "Making the same call again will not help. Go on without it.";
    case "pending":
      return pendingId === undefined || pendingId === null
        ? "Ask for it later."
        : `Ask for it later by ${JSON.stringify(pendingId)}; do not make the call again.`;
    default:
      return assertNever(outcome.outcome);
  }
}
