/** A person's answer on its way into the store: the channel is checked, then the first writer wins. */
import type { Clock } from "../base/clock.ts";
import { digestJson } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Grade, Principal } from "../vocabulary.ts";
import { answered, neededConfirmations, type Channel } from "./approval.ts";
import { withoutItems } from "./argument-path.ts";
import { assertMayGrant, type Grants, type GrantScope } from "./grants.ts";
import type { MakeVisible } from "./plain-text.ts";
import { sentenceFor } from "./sentence.ts";
import type { SealedAsk, Shelf, Shelved } from "./shelf.ts";

export interface AnswerInput {
  readonly verdict: "approve" | "deny";
  /** Who answers. */
  readonly by: Principal;
  readonly channel: Channel;
  /** For `deny`: reaches the model. At most 500 characters count. */
  readonly reason?: string;
  /** Items to take out, counted from 0. */
  readonly without?: readonly number[];
  /** The typed second confirmation of L3. */
  readonly typed?: string;
  /** Together with `approve`: a standing approval for calls like this one. */
  readonly grant?: GrantScope;
}

export interface AnswerReport {
  readonly id: string;
  /** `pending`: the first confirmation of two is taken down. */
  readonly state: "approved" | "denied" | "pending";
  /** Where `pending`: what has to be typed. */
  readonly toType: string | null;
  /** The standing approval that was given with it. */
  readonly grantId?: string;
}

export interface AnswerContext {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Which channels may answer calls of a grade. */
  readonly channels: (grade: Grade) => readonly Channel[];
  /** `null` where there are none at all. */
  readonly grants: Grants | null;
  readonly makeVisible: MakeVisible;
}

const MAX_REASON = 500;

/** The store forgets a waiting one at its expiry, and an answered one after an hour. */
export function unknownApproval(id: string): PortcullisError {
  return new PortcullisError(
    "not_found",
    `nothing waits under \`${id}\`: it has expired, was answered long ago, or never was`,
  );
}

/** @throws PortcullisError as `Broker.answer` says. */
export async function answerOne(
  context: AnswerContext,
  id: string,
  input: AnswerInput,
): Promise<AnswerReport> {
  const { shelf, clock } = context;
  for (;;) {
    const found = await shelf.read(id);
    if (found === undefined) throw unknownApproval(id);
    const { approval } = found.shelved;
    if (!mayAnswer(input.channel, input.verdict, approval.grade, context.channels)) {
      throw new PortcullisError(
        "policy_denied",
        `the channel \`${input.channel}\` may not ${input.verdict} ${approval.grade} calls`,
      );
    }
    if (input.grant !== undefined) assertGrant(context.grants, found.shelved, input);
    const needsAsk =
      neededConfirmations(approval.grade) === 2 ||
      (input.without ?? []).length > 0 ||
      input.grant !== undefined;
    const ask =
      needsAsk && approval.state.kind === "pending" && input.verdict === "approve"
        ? await shelf.openAsk(found.shelved)
        : null;
    const answer = {
      verdict: input.verdict,
      by: input.by,
      channel: input.channel,
      at: clock.now(),
      reason: input.reason?.slice(0, MAX_REASON) ?? null,
      without: input.without ?? [],
      typed: input.typed ?? null,
    };
    const after = answered({ ...approval, toType: ask?.toType ?? null }, answer, () => {
      if (ask?.items == null) throw new PortcullisError("usage", `approval \`${id}\` has no items`);
      return digestJson(withoutItems(ask.arguments, ask.items, answer.without));
    });
    if (!(await shelf.replace(found, { ...found.shelved, approval: after }, answer.at))) continue;
    const { kind } = after.state;
    if (kind !== "approved" && kind !== "denied" && kind !== "pending")
      throw new PortcullisError("internal", `unexpected state ${kind}`);
    const report = { id, state: kind, toType: kind === "pending" ? after.toType : null };
    if (kind !== "approved" || ask === null || input.grant === undefined) return report;
    return { ...report, grantId: await giveGrant(context, found.shelved, ask, input, input.grant) };
  }
}

function assertGrant(
  grants: Grants | null,
  { approval, needsPerson, session }: Shelved,
  input: AnswerInput,
): void {
  if (input.verdict !== "approve")
    throw new PortcullisError("usage", "a standing approval goes with an approval");
  assertMayGrant(grants?.isOn ?? false, approval.grade, needsPerson);
  if (input.grant === "session" && session === null)
    throw new PortcullisError("usage", "this call belongs to no session");
  if (input.grant === "arguments" && (input.without ?? []).length > 0) {
    throw new PortcullisError("usage", "a standing approval for these arguments cannot leave items out");
  }
}

async function giveGrant(
  context: AnswerContext,
  shelved: Shelved,
  ask: SealedAsk,
  input: AnswerInput,
  scope: GrantScope,
): Promise<string> {
  if (context.grants === null)
    throw new PortcullisError("policy_denied", "standing approvals are off (`approvals.grants`)");
  const { binding, grade } = shelved.approval;
  const { id } = await context.grants.give({
    call: binding,
    grade,
    needsPerson: shelved.needsPerson,
    scope,
    session: shelved.session,
    by: input.by,
    channel: input.channel,
    sentence: sentenceFor({
      ...binding,
      arguments: ask.arguments,
      say: ask.say,
      makeVisible: context.makeVisible,
    }),
  });
  return id;
}

/**
 * Whether an answer of this channel counts. `elicitation` runs through the agent's own client, so it never approves what is
 * hard to reverse, whatever the configuration says.
 */
function mayAnswer(
  channel: Channel,
  verdict: "approve" | "deny",
  grade: Grade,
  channels: AnswerContext["channels"],
): boolean {
  if (channel === "elicitation" && verdict === "approve" && (grade === "L2" || grade === "L3")) return false;
  return channels(grade).includes(channel);
}
