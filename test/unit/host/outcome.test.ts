import { describe, expect, it } from "vitest";
import { errorCodes, PortcullisError, type ErrorCode } from "../../../src/errors.ts";
import { effectOf, outcomeOf } from "../../../src/host/outcome.ts";
import type { Effect, Grade, OutcomeKind } from "../../../src/vocabulary.ts";

describe("effectOf", () => {
  const error = (code: ErrorCode, data = {}): PortcullisError => new PortcullisError(code, "x", { data });
  it.each<[string, Grade | null, boolean, PortcullisError | null, Effect]>([
    ["L0 whatever happened", "L0", true, error("connection_lost"), "none"],
    ["L0 completed", "L0", true, null, "none"],
    ["ended before dispatch", "L2", false, error("approval_denied"), "none"],
    ["unknown tool", null, false, error("unknown_tool"), "none"],
    ["completed", "L1", true, null, "applied"],
    ["tool error", "L1", true, error("tool_error"), "unknown"],
    ["JSON-RPC error of another kind", "L2", true, error("remote_error"), "unknown"],
    ["refused before execution", "L2", true, error("remote_error", { provesNoEffect: true }), "none"],
    ["401", "L2", true, error("auth_required"), "none"],
    ["never sent", "L2", true, error("connection_lost", { wasSent: false }), "none"],
    ["lost after it was sent", "L2", true, error("connection_lost", { wasSent: true }), "unknown"],
    ["time-out", "L2", true, error("timed_out"), "unknown"],
    ["cancelled", "L3", true, error("cancelled"), "unknown"],
    ["crash", "L2", true, error("process_exited"), "unknown"],
    ["full queue", "L2", true, error("queue_full"), "none"],
  ])("%s", (_name, grade, wasDispatched, failure, expected) => {
    expect(effectOf({ grade, wasDispatched, error: failure })).toBe(expected);
  });
});

describe("outcomeOf", () => {
  it.each<[ErrorCode, OutcomeKind]>([
    ["tool_error", "tool_error"],
    ["invalid_arguments", "invalid_arguments"],
    ["unknown_tool", "refused"],
    ["approval_expired", "refused"],
    ["audit_unavailable", "refused"],
    ["queue_full", "unavailable"],
    ["breaker_open", "unavailable"],
    ["incompatible", "unavailable"],
    ["timed_out", "timed_out"],
    ["interrupted", "cancelled"],
    ["auth_required", "auth_required"],
    ["remote_error", "protocol_error"],
  ])("%s is %s", (code, outcome) => {
    expect(outcomeOf(code)).toBe(outcome);
  });

  it("has an answer for every code, and the exit code agrees with it", () => {
    const exits: Partial<Record<OutcomeKind, number>> = {
      refused: 3,
      invalid_arguments: 4,
      tool_error: 1,
      auth_required: 6,
      cancelled: 130,
    };
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      const exit = exits[outcomeOf(code)];
      // A name that is not there is a mistake of the caller, and no server is unavailable because of it.
      if (exit !== undefined && code !== "audit_unavailable" && code !== "unknown_tool")
        expect([code, errorCodes[code].exitCode]).toEqual([code, exit]);
    }
  });
});
