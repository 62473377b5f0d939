/**
 * Asks the person at the terminal while a call waits: shows what waits for it, takes yes or no, and for L3 what has to be
 * typed. Works the same whether the call runs in this process or in a gateway.
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

export async function answerAtTerminal(
  runner: Runner,
  call: Promise<Outcome>,
  target: { readonly server: string | undefined; readonly tool: string | undefined },
  context: CommandContext,
): Promise<Outcome> {
  const link = linkAbort(context.signal);
  const asking = ask(runner, target, context, link.signal);
  try {
    return await call;
  } finally {
    // Answered elsewhere, or over: the question is withdrawn.
    link.abort(new Error("the call is over"));
    await asking;
  }
}

async function ask(
  runner: Runner,
  target: { readonly server: string | undefined; readonly tool: string | undefined },
  context: CommandContext,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<string>();
  while (!signal.aborted) {
    try {
      await systemClock.sleep(LOOK_MS, signal);
      const inbox = await runner.run<{ approvals: ApprovalView[] }>(approvals as never, {}, signal);
      const next = inbox.approvals.find(
        (approval) =>
          approval.server === target.server && approval.tool === target.tool && !asked.has(approval.id),
      );
      if (next === undefined) continue;
      asked.add(next.id);
      await answerOne(runner, next, context, signal);
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
