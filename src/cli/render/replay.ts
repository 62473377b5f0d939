/** What another policy would have decided, for people: what it changes, or every call. */
import type { ReplayedCall, ReplayReport } from "../../host/replay.ts";
import { shortTime } from "../output.ts";
import { table } from "../table.ts";

/** @param withSame also calls on which nothing changes. */
export function renderReplay({ calls, summary }: ReplayReport, withSame: boolean, nowMs: number): string {
  const shown = withSame ? calls : calls.filter(({ change }) => change !== "same");
  const rows = shown.map((call) => [
    shortTime(call.at, nowMs),
    `${call.server} ${call.tool}`,
    `${call.was.verdict} ${call.was.grade ?? "?"}`,
    `${call.would.verdict} ${call.would.grade ?? "?"}`,
    call.change,
    why(call),
    call.callId,
  ]);
  const { same, stricter, looser, uncertain, undecided } = summary;
  const total = `${summary.calls} recorded calls: ${same} decided the same, ${stricter} more strictly, ${looser} more loosely.`;
  const left = [
    ...(uncertain === 0 ? [] : [`${uncertain} rest on what the record does not hold (marked ?).`]),
    ...(undecided === 0 ? [] : [`${undecided} more ended before anything was decided, or read no tool.`]),
    "Approvals and grants do not count here, and what a conversation had read is known only as far as it was found then.",
  ];
  const head = ["AT (UTC)", "TOOL", "WAS", "WOULD BE", "CHANGE", "WHY", "CALL"];
  return [...(rows.length === 0 ? [] : [table(head, rows), ""]), [total, ...left].join(" ")].join("\n");
}

function why({ would, notes }: ReplayedCall): string {
  const last = would.reasons.at(-1)?.message ?? "";
  return [`${notes.length === 0 ? "" : "? "}${last}`, ...notes].join("; ");
}
