import { errorCodes } from "../../errors.ts";
import type { Outcome } from "../../host/outcome.ts";
import { callTool } from "../../operations/call-tool.ts";
import { answerAtTerminal, sayWhatWaits } from "../ask-approval.ts";
import { answerInputAtTerminal } from "../ask-input.ts";
import type { CommandRun } from "../main.ts";
import { renderOutcome } from "../render/outcome.ts";
import { openRunner } from "../runner.ts";
import { given, readJsonWord } from "../verb.ts";
import { loadTrusted } from "../workspace.ts";

export const run: CommandRun<{ yes?: boolean; confirm?: string; wait?: boolean }> = async (
  context,
  words,
  options,
) => {
  const [server, tool, json] = words;
  const args = await readJsonWord(json);
  const config = await loadTrusted(context.globals, context.output);
  const isHere = context.output.isInteractive && json !== "-";
  const runner = await openRunner(
    config,
    true,
    isHere ? { onInput: answerInputAtTerminal(context.output) } : {},
  );
  try {
    // A person at the terminal is asked there, while the call waits.
    const asksHere = isHere && options.yes !== true;
    const input = given({
      server,
      tool,
      arguments: args,
      yes: options.yes,
      confirm: options.confirm,
      wait: options.wait === true || asksHere,
    });
    const call = runner.run<Outcome>(callTool as never, input, context.signal);
    const wait = asksHere ? answerAtTerminal : sayWhatWaits;
    const outcome =
      asksHere || options.wait === true ? await wait(runner, call, { server, tool }, context) : await call;
    if (isHere && runner.isRemote && outcome.code === "input_refused")
      context.output.say(
        "the gateway did the work, and cannot ask you what a server asks: stop it to be asked here",
      );
    context.output.result(outcome, renderOutcome);
    return outcome.code === null ? 0 : errorCodes[outcome.code].exitCode;
  } finally {
    await runner.close();
  }
};
