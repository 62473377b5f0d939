import { release } from "../../operations/release.ts";
import type { CommandRun } from "../main.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ accept?: boolean }> = async (context, [call], options) =>
  runVerb(context, release, given({ call, accept: options.accept }), (held) => {
    const findings = held.findings.map(
      ({ severity, message, rule }) => `! ${severity}: ${message} (${rule})`,
    );
    const more = held.pages > 1 ? [`(page 1 of ${held.pages})`] : [];
    const end = held.isReleased
      ? "released: the model may read it with portcullis__read_more"
      : `\`portcullis release ${held.callId} --accept\` lets the model of \`${held.principal}\` read it`;
    return [...findings, held.text, ...more, end].join("\n");
  });
