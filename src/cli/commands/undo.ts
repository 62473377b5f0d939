import { undo } from "../../operations/undo.ts";
import type { CommandRun } from "../main.ts";
import { renderOutcome } from "../render/outcome.ts";
import { given, runOutcomeVerb } from "../verb.ts";

export const run: CommandRun<{ yes?: boolean; wait?: boolean }> = async (context, [call], options) =>
  runOutcomeVerb(context, undo, given({ call, yes: options.yes, wait: options.wait }), renderOutcome);
