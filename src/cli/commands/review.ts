import type { ReviewItem } from "../../host/api.ts";
import { review } from "../../operations/review.ts";
import type { CommandRun } from "../main.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ tool?: string; accept?: boolean }> = async (context, [server], options) =>
  runVerb(
    context,
    review,
    given({ server, tool: options.tool, accept: options.accept }),
    ({ items, accepted }) => {
      if (items.length === 0) return "nothing new and nothing changed";
      const done =
        options.accept === true
          ? [accepted.length === 0 ? "accepted" : `accepted: ${accepted.join(", ")}`]
          : ["`portcullis review --accept` accepts them as they are"];
      return [...items.map(renderItem), ...done].join("\n\n");
    },
  );

function renderItem(item: ReviewItem): string {
  const what = item.tool ?? "(instructions of the server)";
  const held = item.held === null ? [] : [`  held: ${item.held}`];
  const findings = item.findings.map(
    ({ severity, message, rule, where }) => `  ! ${severity}: ${message} (${rule}, ${where})`,
  );
  return [`${item.pin}: ${item.server} ${what}`, ...held, ...findings, indent(item.diff)].join("\n");
}

function indent(text: string): string {
  return text.replaceAll(/^/gmu, "  ");
}
