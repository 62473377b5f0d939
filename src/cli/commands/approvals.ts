import { systemClock } from "../../base/clock.ts";
import { approvals } from "../../operations/approvals.ts";
import type { CommandRun } from "../main.ts";
import { renderApproval } from "../render/approval.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context) =>
  runVerb(context, approvals, {}, ({ approvals: waiting }) =>
    waiting.length === 0
      ? "nothing waits for an answer"
      : waiting.map((approval) => renderApproval(approval, systemClock.now())).join("\n\n"),
  );
