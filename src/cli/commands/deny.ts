import { deny } from "../../operations/approvals.ts";
import type { CommandRun } from "../main.ts";
import { renderAnswers } from "../render/approval.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ reason?: string }> = async (context, [id], options) =>
  runVerb(context, deny, given({ id, reason: options.reason }), renderAnswers);
