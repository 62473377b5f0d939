import { callTool } from "../../operations/call-tool.ts";
import { runGovernedCall } from "../governed-call.ts";
import type { CommandRun } from "../main.ts";
import { given, readJsonWord } from "../verb.ts";

export const run: CommandRun<{ yes?: boolean; confirm?: string; wait?: boolean }> = async (
  context,
  [server = "", tool = "", json],
  options,
) => {
  const args = await readJsonWord(json, context.signal);
  return runGovernedCall(context, {
    operation: callTool as never,
    input: given({ server, tool, arguments: args, confirm: options.confirm }),
    yes: options.yes === true,
    wait: options.wait === true,
    mayAsk: json !== "-",
    target: { server, tool },
  });
};
