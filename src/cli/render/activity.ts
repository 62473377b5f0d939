/** `portcullis activity` and `portcullis audit` for people. */
import type { ActivityView } from "../../host/api.ts";
import type { ChainVerdict } from "../../store/store.ts";
import { shortTime, table } from "../output.ts";

export function renderActivity(calls: readonly ActivityView[], nowMs: number): string {
  if (calls.length === 0) return "no calls yet";
  const rows = calls.map((call) => [
    shortTime(call.at, nowMs),
    `${call.server} ${call.tool}`,
    call.grade ?? "?",
    call.outcome,
    call.effect,
    call.durationMs === null ? "" : `${Math.round(call.durationMs)} ms`,
    call.approvedBy ?? "",
    call.callId,
  ]);
  return table(["AT (UTC)", "TOOL", "GRADE", "OUTCOME", "EFFECT", "TOOK", "APPROVED BY", "CALL"], rows);
}

export function renderChains(chains: readonly ChainVerdict[]): string {
  if (chains.length === 0) return "no records yet";
  return chains
    .map(({ ok, writer, length, brokenAt, reason }) =>
      ok
        ? `ok      ${writer}: ${length} records`
        : `BROKEN  ${writer}: from record ${brokenAt ?? 0}: ${reason ?? "unknown"}`,
    )
    .join("\n");
}
