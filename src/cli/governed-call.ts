/**
 * One governed call from the command line: its person is asked here or waited for, and where the gateway that made it goes away
 * before it answers, the record says what became of it.
 */
import { systemClock } from "../base/clock.ts";
import { systemRandom, timedId } from "../base/random.ts";
import { errorCodes, toPortcullisError } from "../errors.ts";
import type { Outcome } from "../host/outcome.ts";
import type { Operation } from "../operations/operation.ts";
import { answerAtTerminal, sayWhatWaits } from "./ask-approval.ts";
import { answerInputAtTerminal } from "./ask-input.ts";
import { tellLostCall } from "./lost-call.ts";
import type { CommandContext } from "./main.ts";
import { renderOutcome } from "./render/outcome.ts";
import { isAnsweredError, openRunner } from "./runner.ts";
import { loadTrusted } from "./workspace.ts";

export interface GovernedCall {
  readonly operation: Pick<Operation, "name" | "isLive">;
  /** Of the operation, without what is decided here. */
  readonly input: object;
  readonly yes: boolean;
  readonly wait: boolean;
  /** False where standard input is something else than a person. */
  readonly mayAsk: boolean;
  /** What an answer that is lost is told about. */
  readonly target: Pick<Outcome, "server" | "tool">;
}

/** Makes the call and prints its end. @returns the exit code. */
export async function runGovernedCall(context: CommandContext, given: GovernedCall): Promise<number> {
  const { output, signal } = context;
  const config = await loadTrusted(context.globals, output, context.signal);
  const isHere = output.isInteractive && given.mayAsk;
  const runner = await openRunner(
    config,
    true,
    output,
    isHere ? { onInput: answerInputAtTerminal(output) } : {},
  );
  try {
    // A person at the terminal is asked there, while the call waits.
    const asksHere = isHere && !given.yes;
    const wait = given.wait || asksHere;
    const callId = timedId(systemRandom, systemClock.now());
    const input = { ...given.input, yes: given.yes, wait, callId };
    const call = runner
      .run<Outcome>(given.operation as never, input, signal)
      .catch((cause: unknown): Outcome | Promise<Outcome> => {
        if (!runner.isRemote || isAnsweredError(cause)) throw cause;
        return tellLostCall(config, { callId, ...given.target }, toPortcullisError(cause));
      });
    const whileWaiting = asksHere ? answerAtTerminal : sayWhatWaits;
    const outcome = wait ? await whileWaiting(runner, call, callId, context) : await call;
    if (isHere && runner.isRemote && outcome.code === "input_refused")
      output.say("the gateway did the work, and cannot ask you what a server asks: stop it to be asked here");
    output.result(outcome, renderOutcome);
    return outcome.code === null ? 0 : errorCodes[outcome.code].exitCode;
  } finally {
    await runner.close();
  }
}
