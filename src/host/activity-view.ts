/** A call of the audit as `activity --json` prints it. */
import type { CallActivity } from "../audit/fold.ts";
import type { ActivityView } from "./api.ts";

export function toActivityView(call: CallActivity): ActivityView {
  return {
    callId: call.callId,
    at: new Date(call.at).toISOString(),
    principal: call.principal,
    server: call.server ?? "",
    tool: call.tool,
    grade: call.grade,
    outcome: call.outcome ?? "running",
    code: call.code,
    effect: call.effect,
    durationMs: call.durationMs,
    approvedBy: call.approvedBy,
    undoUntil: call.undoUntil === null ? null : new Date(call.undoUntil).toISOString(),
  };
}
