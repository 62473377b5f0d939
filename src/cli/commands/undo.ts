import { undo } from "../../operations/undo.ts";
import { runGovernedCall } from "../governed-call.ts";
import type { CommandRun } from "../main.ts";

export const run: CommandRun<{ yes?: boolean; wait?: boolean }> = async (context, [call = ""], options) =>
  runGovernedCall(context, {
    operation: undo as never,
    input: { call },
    yes: options.yes === true,
    wait: options.wait === true,
    mayAsk: true,
    target: { server: null, tool: `undo of ${call}` },
  });
