/**
 * One governed call, top to bottom. The lines of `call` are the steps; each lives elsewhere and returns here.
 *
 * Invariants: nothing of grade L1 and up is asked or sent before its mark is on disk; what is sent is exactly what was
 * decided about; a call never throws for anything that a server, a person or the network did.
 */
import { linkAbort, throwIfAborted } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import { holdProcess } from "../base/keep-alive.ts";
import type { Seat } from "../base/roster.ts";
import { PortcullisError } from "../errors.ts";
import type { CallOptions, ToolTarget } from "./api.ts";
import { approve } from "./approve.ts";
import { beginStory } from "./call-story.ts";
import type { Core, Running } from "./core.ts";
import { asCancelled, exchange } from "./exchange.ts";
import { takeIn } from "./take-in.ts";
import type { Outcome } from "./outcome.ts";
import { bindingOf, prepare, type Prepared, type Undoing } from "./prepare.ts";
import { recall, remember } from "./remember.ts";
import { resolveTool, type ResolvedTool } from "./resolve-tool.ts";
import { sendCall } from "./send-call.ts";
import type { TurnState } from "./turn.ts";

export interface CallRequest {
  /** An exposed name, or server and tool. */
  readonly query: string | ToolTarget;
  readonly arguments: JsonObject | string;
  readonly turn: TurnState;
  readonly options: CallOptions;
  /** Where the caller chose it. */
  readonly callId?: string;
  /** The call that this one takes back. */
  readonly undoes?: Undoing;
}

/** Makes the call. @throws PortcullisError `unknown_server` where a person named one that is not configured: misuse. */
export async function call(core: Core, request: CallRequest): Promise<Outcome> {
  const { turn } = request;
  const release = holdProcess();
  const link = linkAbort(core.signal, turn.signal, request.options.signal);
  const story = beginStory(core, request);
  let seat: Seat<() => Running> | undefined;
  let plan: Prepared | undefined;
  try {
    // One that is refused because the host ends was never under way: it is not told as cut off.
    throwIfAborted(core.draining);
    seat = core.running.add(() => story.running());
    // A step that is done at once is not waited for: that would cost more than most of them do.
    const found = resolveTool(core, request.query, turn.principal, link.signal);
    const resolved = found instanceof Promise ? await found : found;
    story.found(resolved);
    const prepared = prepareWithGrant(core, resolved, request);
    plan = prepared instanceof Promise ? await prepared : prepared;
    const opening = story.open(plan);
    if (opening !== undefined) await opening;
    if (plan.decision.decision === "ask") {
      story.asking();
      const aside = { wait: false, signal: link.signal, ...story.trace() };
      const asking = { ...request, callId: story.callId };
      const consent = await approve(core, plan, asking, link.signal, (target, args) =>
        call(core, { query: target, arguments: args, turn, options: aside }),
      );
      plan = await prepare(core, resolved, consent.arguments, turn, { approval: consent.approval });
      story.decided(plan, consent);
    }
    if (plan.decision.decision !== "allow") throw refusalOf(plan);
    takeRate(core, plan, turn);
    turn.conversation.sent(plan.arguments);
    const { tool, arguments: args } = plan;
    const raw = await exchange(
      core,
      story.exchangePlan(plan, link.signal),
      story.progress,
      (session, requestOptions) => sendCall(session, tool.entry, args, requestOptions),
    );
    const taking = takeIn(core, plan, raw, story.callId);
    const taken = taking instanceof Promise ? await taking : taking;
    const isOnce = story.progress.wasAsked === true;
    const offer = remember(core, plan, turn, { raw, taken, isOnce, callId: story.callId });
    const closing = story.close(taken, offer instanceof Promise ? await offer : offer);
    return closing instanceof Promise ? await closing : closing;
  } catch (cause) {
    const error = asCancelled(cause, link.signal);
    if (error.code === "unknown_server" && typeof request.query !== "string") throw error;
    const stale =
      plan === undefined ? undefined : await recall(core, plan, turn, { callId: story.callId, error });
    return await story.fail(error, stale);
  } finally {
    if (seat !== undefined) core.running.remove(seat);
    link.unlink();
    release();
  }
}

/** Step 2, with a standing approval where one covers the call. It is used up here: a call that fails later has used it. */
function prepareWithGrant(
  core: Core,
  resolved: ResolvedTool,
  request: CallRequest,
): Prepared | Promise<Prepared> {
  const { turn, arguments: args, undoes } = request;
  const plan = prepare(core, resolved, args, turn, undoes === undefined ? {} : { undoes });
  const grant = (judged: Prepared): Prepared | Promise<Prepared> =>
    judged.decision.decision !== "ask" || !core.grants.isOn || judged.decision.needsPerson
      ? judged
      : underGrant(core, resolved, judged, turn);
  return plan instanceof Promise ? plan.then(grant) : grant(plan);
}

async function underGrant(
  core: Core,
  resolved: ResolvedTool,
  plan: Prepared,
  turn: TurnState,
): Promise<Prepared> {
  const grant = await core.grants.find(bindingOf(plan, turn.principal), turn.conversation.id);
  if (grant === undefined) return plan;
  const granted = await prepare(core, resolved, plan.arguments, turn, { grant });
  const isCovered = granted.decision.basis?.kind === "grant" && (await core.grants.use(grant.id));
  return isCovered ? granted : plan;
}

/** A decision that is not `allow`, as the error that ends the call. */
function refusalOf({ decision, tool }: Prepared): PortcullisError {
  const why = decision.reasons.map((reason) => reason.message).join("; ");
  if (decision.decision === "ask") {
    return new PortcullisError(
      "approval_stale",
      `the approval of \`${tool.exposedName}\` does not fit any more: ${why}`,
    );
  }
  return new PortcullisError(decision.code ?? "policy_denied", `\`${tool.exposedName}\` is refused: ${why}`);
}

/** Calls per minute, where the configuration sets them. @throws PortcullisError `rate_limited`, never sent. */
function takeRate(core: Core, { server, tool }: Prepared, turn: TurnState): void {
  if (server.limits.perMinute === null) return;
  core.guards.rate.take(`${turn.principal} ${tool.exposedName}`, server.limits.perMinute);
}
