/** A call of the audit as `activity --json` prints it. */
import type { CallActivity } from "../audit/fold.ts";
import type { RecordedDecision } from "../audit/decided.ts";
import type { ActivityDecision, ActivityView } from "./views.ts";

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
    decision: toDecision(call.decisions.at(-1)),
    undoUntil: call.undoUntil === null ? null : new Date(call.undoUntil).toISOString(),
  };
}

function toDecision(last: RecordedDecision | undefined): ActivityDecision | null {
  if (last === undefined) return null;
  const { decision, gradeFrom, reasons, basis } = last;
  const answers = last.answers.map(({ by, channel, at }) => ({
    by,
    channel,
    at: new Date(at).toISOString(),
  }));
  return { verdict: decision, at: new Date(last.at).toISOString(), gradeFrom, reasons, basis, answers };
}
