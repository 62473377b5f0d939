/**
 * What the terminal does while a call waits for an answer. Where a person is there it asks them: shows what waits, takes yes
 * or no, and for L3 what has to be typed. Otherwise it says how to answer from elsewhere. Works the same whether the call
 * runs in this process or in a gateway.
 */
import { linkAbort } from "../base/abort.ts";
import { systemClock } from "../base/clock.ts";
import type { ApprovalView } from "../approvals/view.ts";
import { toPortcullisError } from "../errors.ts";
import type { Outcome } from "../host/outcome.ts";
import { approvals, approve, deny } from "../operations/approvals.ts";
import type { CommandContext } from "./main.ts";
import { askLine, askYesOrNo } from "./prompt.ts";
import { renderApproval } from "./render/approval.ts";
import type { Runner } from "./runner.ts";

/** How often the inbox is looked at while the call runs. */
const LOOK_MS = 200;

type OnWaiting = (approval: ApprovalView, signal: AbortSignal) => Promise<void>;

/** Asks the person at the terminal, as often as the call has to be asked about. */
export async function answerAtTerminal(
  runner: Runner,
  call: Promise<Outcome>,
  callId: string,
  context: CommandContext,
): Promise<Outcome> {
  return whileWaiting(runner, call, callId, context, async (approval, signal) =>
    answerOne(runner, approval, context, signal),
  );
}

/** Says what a call waits for, where somebody else is to answer. */
export async function sayWhatWaits(
  runner: Runner,
  call: Promise<Outcome>,
  callId: string,
  context: CommandContext,
): Promise<Outcome> {
  return whileWaiting(runner, call, callId, context, async (approval) => {
    const answers = `\`portcullis approve ${approval.id}\`, \`portcullis deny ${approval.id}\` or the console`;
    context.output.say(`waits for an answer: ${approval.sentence}\n  ${answers}`);
  });
}

async function whileWaiting(
  runner: Runner,
  call: Promise<Outcome>,
  callId: string,
  context: CommandContext,
  onWaiting: OnWaiting,
): Promise<Outcome> {
  const link = linkAbort(context.signal);
  const asking = watch(runner, callId, context, link.signal, onWaiting);
  try {
    return await call;
  } finally {
    // Answered elsewhere, or over: the question is withdrawn.
    link.abort(new Error("the call is over"));
    await asking;
  }
}

async function watch(
  runner: Runner,
  callId: string,
  context: CommandContext,
  signal: AbortSignal,
  onWaiting: OnWaiting,
): Promise<void> {
  const asked = new Set<string>();
  while (!signal.aborted) {
    try {
      await systemClock.sleep(LOOK_MS, signal);
      const inbox = await runner.run<{ approvals: ApprovalView[] }>(approvals as never, {}, signal);
      const next = inbox.approvals.find((approval) => approval.callId === callId && !asked.has(approval.id));
      if (next === undefined) continue;
      asked.add(next.id);
      await onWaiting(next, signal);
    } catch (error) {
      if (!signal.aborted) context.output.say(toPortcullisError(error).message);
    }
  }
}

async function answerOne(
  runner: Runner,
  approval: ApprovalView,
  context: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  context.output.say(`\n${renderApproval(approval, systemClock.now())}`);
  const isApproved = await askYesOrNo("Do it?", signal);
  if (!isApproved) {
    await runner.run(
      deny as never,
      { id: approval.id, reason: "the person at the terminal said no" },
      signal,
    );
    return;
  }
  const typed =
    approval.toType === null
      ? {}
      : { confirm: await askLine(`Type \`${approval.toType}\` to confirm: `, signal) };
  await runner.run(approve as never, { id: approval.id, ...typed }, signal);
}
