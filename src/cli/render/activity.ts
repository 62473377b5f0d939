/** `portcullis activity` and `portcullis audit` for people. */
import type { ActivityView } from "../../host/views.ts";
import type { AuditVerdict } from "../../audit/verify.ts";
import { shortTime } from "../output.ts";
import { table } from "../table.ts";

export function renderActivity(calls: readonly ActivityView[], nowMs: number): string {
  if (calls.length === 0) return "no calls yet";
  const rows = calls.map((call) => [
    shortTime(call.at, nowMs),
    `${call.server} ${call.tool}`,
    call.grade ?? "?",
    call.code === null || call.code === call.outcome ? call.outcome : `${call.outcome}: ${call.code}`,
    call.effect,
    call.durationMs === null ? "" : `${Math.round(call.durationMs)} ms`,
    call.approvedBy ?? "",
    call.callId,
  ]);
  return table(["AT (UTC)", "TOOL", "GRADE", "OUTCOME", "EFFECT", "TOOK", "APPROVED BY", "CALL"], rows);
}

export function renderVerdict(verdict: AuditVerdict): string {
  const lost = verdict.lost === 0 ? "" : `, ${verdict.lost} could not be written at the time`;
  const counts = [
    count(verdict.records, "record"),
    count(verdict.chains, "chain"),
    count(verdict.anchors, "anchor"),
  ];
  const whole = `${counts.join(", ")}${lost}`;
  if (verdict.ok) return `whole: nothing was changed or taken out (${whole})`;
  const broken = verdict.broken.map(
    ({ writer, brokenAt, reason }) => `  ${writer}: from record ${brokenAt ?? 0}: ${reason ?? "unknown"}`,
  );
  const anchors = verdict.anchorProblems.map((problem) => `  ${JSON.stringify(problem)}`);
  return [`NOT WHOLE: ${whole}`, ...broken, ...anchors].join("\n");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
