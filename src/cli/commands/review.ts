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
      const diffs = items.map((item) => `${item.pin}: ${item.server} ${item.tool}\n${indent(item.diff)}`);
      const done =
        accepted.length > 0
          ? [`accepted: ${accepted.join(", ")}`]
          : ["`portcullis review --accept` accepts them as they are"];
      return [...diffs, ...done].join("\n\n");
    },
  );

function indent(text: string): string {
  return text.replaceAll(/^/gmu, "  ");
}
