/**
 * Step 4 of a call: a person is asked, and the answer is bound to exactly what was shown. Ways to an answer: the consent that
 * came with the call (`--yes` at a terminal), or the inbox, which terminal, console and callback answer.
 */
import { textToType, type Ask } from "../approvals/ask.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { GivenApproval } from "../policy/evaluate.ts";
import type { Principal } from "../vocabulary.ts";
import type { CallOptions } from "./api.ts";
import type { CallRequest } from "./call.ts";
import type { Core } from "./core.ts";
import { bindingOf, type Prepared } from "./prepare.ts";
import { previewOf, type CallThrough } from "./preview.ts";
import type { TurnState } from "./turn.ts";

export interface Consent {
  /** What may be sent: without the items that were taken out. */
  readonly arguments: JsonObject;
  readonly approval: GivenApproval;
  readonly by: Principal;
  readonly channel: string;
  /** Every yes, in order: L3 takes two. */
  readonly answers: readonly { readonly by: Principal; readonly channel: string; readonly at: number }[];
}

/**
 * @param callThrough calls the operator's `preview` tool, through the spine; only where a person is asked.
 * @throws PortcullisError `approval_needed`, `confirmation_needed`, `approval_denied` (with the reason that reaches the
 * model), `approval_expired`; or the signal's reason.
 */
export async function approve(
  core: Core,
  plan: Prepared,
  { turn, options, callId }: Pick<CallRequest, "turn" | "options"> & { readonly callId: string },
  signal: AbortSignal,
  callThrough: CallThrough,
): Promise<Consent> {
  if (options.consent !== undefined) return consentOf(core, plan, turn.principal, options.consent);
  if (options.wait === false) {
    throw new PortcullisError(
      "approval_needed",
      `\`${plan.tool.exposedName}\` (${plan.decision.grade}) has to be approved by a person`,
    );
  }
  const answer = await core.broker.request(
    askOf(plan, turn, callId, await previewOf(plan, callThrough)),
    signal,
  );
  switch (answer.kind) {
    case "approved": {
      const [first] = answer.confirmations;
      return {
        arguments: answer.arguments,
        approval: answer.approval,
        by: first?.by ?? "unknown",
        channel: first?.channel ?? "unknown",
        answers: answer.confirmations,
      };
    }
    case "denied": {
      const why = answer.reason === null ? "" : `: ${answer.reason}`;
      throw new PortcullisError("approval_denied", `${answer.by} said no${why}`, {
        data: {
          reason: answer.reason,
          by: answer.by,
          channel: answer.channel,
          at: answer.at,
          approvalId: answer.approvalId,
        },
      });
    }
    case "expired":
      throw new PortcullisError("approval_expired", "nobody answered in time");
  }
}

/** The consent that came with the call: the person at the terminal typed the command and `--yes`. */
function consentOf(
  core: Core,
  plan: Prepared,
  principal: Principal,
  consent: NonNullable<CallOptions["consent"]>,
): Consent {
  const { approvals } = core.config();
  const { grade } = plan.decision;
  if (!approvals.yes || grade === "off" || !approvals.channelsByGrade[grade].includes(consent.channel)) {
    throw new PortcullisError(
      "approval_needed",
      "the configuration does not let --yes stand for an approval",
    );
  }
  const isDangerous = grade === "L3";
  const toType = textToType({
    arguments: plan.arguments,
    confirm: plan.policy.confirm,
    tool: plan.tool.entry.name,
  });
  if (isDangerous && consent.typed?.trim() !== toType) {
    throw new PortcullisError("confirmation_needed", `an L3 call needs --confirm \`${toType}\``);
  }
  return {
    arguments: plan.arguments,
    by: consent.by,
    channel: consent.channel,
    answers: [{ by: consent.by, channel: consent.channel, at: core.clock.now() }],
    approval: {
      id: "consent",
      binding: bindingOf(plan, principal),
      confirmations: isDangerous ? 2 : 1,
      expiresAt: core.clock.now() + approvals.timeoutMs,
    },
  };
}

function askOf(plan: Prepared, turn: TurnState, callId: string, preview: string | null): Ask {
  const { tool, server, policy, decision } = plan;
  return {
    group: turn.group,
    callId,
    principal: turn.principal,
    server: server.name,
    tool: tool.entry.name,
    exposedName: tool.exposedName,
    pin: tool.entry.pin,
    grade: decision.grade,
    arguments: plan.arguments,
    say: policy.say,
    items: policy.items,
    confirm: policy.confirm,
    title: tool.entry.title,
    origins: plan.origins,
    reasons: decision.reasons,
    preview,
    needsPerson: decision.needsPerson,
    session: turn.conversation.id,
  };
}
