/** What is written down of a call while it runs: its marks, its events, and its end as an outcome. Decides nothing. */
import type { Trail } from "../audit/call-trail.ts";
import type { CallClosed, CallDecided, CallOpened, LateAnswer as LateMark } from "../audit/marks.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { timedId } from "../base/random.ts";
import type { LateAnswer } from "../client/correlation.ts";
import { PortcullisError } from "../errors.ts";
import type { Intake } from "../results/intake.ts";
import type { Decision } from "../policy/decision.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { modelMessage } from "../results/outcome-text.ts";
import { connectionId, type Finding, type Grade } from "../vocabulary.ts";
import type { Consent } from "./approve.ts";
import type { CallRequest } from "./call.ts";
import type { Core, Running } from "./core.ts";
import type { ExchangePlan, ExchangeProgress } from "./exchange.ts";
import { effectOf, outcomeOf, type Outcome } from "./outcome.ts";
import type { Prepared } from "./prepare.ts";
import type { StaleAnswer } from "./remember.ts";
import type { TurnState } from "./turn.ts";
import { requireUnchanged, type ResolvedTool } from "./resolve-tool.ts";

export interface CallStory {
  readonly callId: string;
  /** What is known of it now. */
  readonly running: () => Running;
  readonly progress: ExchangeProgress;
  found(resolved: ResolvedTool): void;
  /** The first mark, and the decision. @throws PortcullisError `audit_unavailable`. */
  open(plan: Prepared): Promise<void> | undefined;
  /** Decided anew, after a person's answer. */
  decided(plan: Prepared, consent: Consent): void;
  exchangePlan(plan: Prepared, signal: AbortSignal): ExchangePlan;
  /** The server answered. @param undoUntil epoch milliseconds; `null`: it cannot be taken back. */
  close(taken: Intake, undoUntil: number | null): Outcome | Promise<Outcome>;
  /** Anything else happened. */
  fail(error: PortcullisError, stale: StaleAnswer | undefined): Promise<Outcome>;
}

export function beginStory(core: Core, request: CallRequest): CallStory {
  const { turn, options } = request;
  const callId = timedId(core.random, core.clock.now());
  const startedMs = core.clock.monotonic();
  const progress: ExchangeProgress = { attempts: 0, wasDispatched: false };
  const query = typeof request.query === "string" ? { server: null, tool: request.query } : request.query;
  let { server, tool }: { server: string | null; tool: string } = query;
  let plan: Prepared | undefined;
  let trail: Trail | undefined;

  const grade = (): Grade | null => plan?.decision.grade ?? null;
  const about = () => ({
    at: core.clock.now(),
    callId,
    principal: turn.principal,
    server: server ?? "",
    tool,
    grade: grade(),
  });

  const opened = (): CallOpened => ({
    callId,
    principal: turn.principal,
    server: server ?? "",
    tool,
    grade: grade(),
    arguments: (plan?.arguments ?? request.arguments) as JsonValue,
    ...(plan === undefined ? {} : { argumentsDigest: plan.digest }),
    context: contextOf(request, plan),
  });

  const tell = (facts: EndFacts): void => {
    if (core.hearsCalls()) core.emit({ type: "call.closed", ...about(), ...facts });
    for (const finding of facts.findings) core.emit({ type: "finding.raised", ...about(), finding });
  };

  /** The last mark. @returns the facts that every outcome has. */
  const end = (
    error: PortcullisError | null,
    message: string,
    findings: readonly Finding[],
    undoUntil: number | null = null,
  ): OutcomeFacts | Promise<OutcomeFacts> => {
    const outcome = error === null ? ("completed" as const) : outcomeOf(error.code);
    const facts: EndFacts = {
      outcome,
      code: error?.code ?? null,
      effect: effectOf({ grade: grade(), ...progress, error }),
      attempts: progress.attempts,
      durationMs: core.clock.monotonic() - startedMs,
      message,
      findings,
    };
    const closed: CallClosed = undoUntil === null ? facts : { ...facts, undoUntil };
    const whole: OutcomeFacts = { callId, server, tool, grade: grade(), ...facts };
    const marking = trail === undefined ? undefined : trail.closed(closed);
    if (marking !== undefined) {
      return marking.then(() => {
        tell(facts);
        return whole;
      });
    }
    if (trail === undefined) core.audit.refused(opened(), closed);
    tell(facts);
    return whole;
  };

  return {
    callId,
    running: () => ({ callId, server, tool }),
    progress,
    found(resolved) {
      server = resolved.server.name;
      tool = resolved.tool.entry.name;
    },
    open(next) {
      plan = next;
      const begin = (opening: Trail): void => {
        trail = opening;
        if (core.hearsCalls()) core.emit({ type: "call.opened", ...about() });
        opening.decided(decidedOf(next));
      };
      const opening = core.audit.open(opened());
      if (opening instanceof Promise) return opening.then(begin);
      begin(opening);
      return undefined;
    },
    decided(next, consent) {
      plan = next;
      trail?.decided(decidedOf(next, consent));
    },
    exchangePlan(next, signal) {
      const open = trail;
      if (open === undefined)
        throw new PortcullisError("internal", "a call is sent only after its first mark");
      return {
        callId,
        principal: turn.principal,
        name: next.tool.exposedName,
        server: next.server,
        key: next.tool.key,
        trail: open,
        signal,
        budget: turn.budget,
        mayRepeat: next.decision.grade === "L0" || next.policy.idempotent,
        mayHaveEffect: next.decision.grade !== "L0",
        idleTimeoutMs: next.policy.timeoutMs ?? next.server.limits.timeoutMs,
        ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
        recheck: () => requireUnchanged(core, next, turn.principal),
        onLate: (answer) => {
          open.late({ outcome: lateOutcome(answer) });
          core.emit({
            type: "call.answered-late",
            at: core.clock.now(),
            callId,
            server: next.server.name,
            tool,
          });
        },
      };
    },
    close(taken, undoUntil) {
      const error = taken.isError ? new PortcullisError("tool_error", `\`${tool}\` reported an error`) : null;
      const message = error?.message ?? `\`${tool}\` answered`;
      const findings = [...(plan?.decision.findings ?? []), ...taken.findings];
      const answer = (facts: OutcomeFacts): Outcome => ({
        ...facts,
        content: taken.content,
        ...(taken.structured === undefined ? {} : { structured: taken.structured }),
        model: error === null ? taken.model : modelOfToolError(facts, taken.model),
        ...(taken.rest === undefined ? {} : { restId: callId }),
        ...(undoUntil === null ? {} : { undoUntil: new Date(undoUntil).toISOString() }),
      });
      const ended = end(error, message, findings, undoUntil);
      return ended instanceof Promise ? ended.then(answer) : answer(ended);
    },
    async fail(error, stale) {
      if (plan !== undefined && error.code === "approval_denied") trail?.decided(deniedOf(plan, error));
      const message = core.redactor.redact(error.message);
      const facts = await end(error, message, [
        ...(plan?.decision.findings ?? []),
        ...(stale?.findings ?? []),
      ]);
      const hint = typeof error.data["hint"] === "string" ? error.data["hint"] : undefined;
      return {
        ...facts,
        message: stale?.message ?? message,
        content: stale?.content ?? [],
        ...(stale?.structured === undefined ? {} : { structured: stale.structured }),
        model: failureForModel(core, facts, error, stale),
        ...(hint === undefined ? {} : { retryHint: hint }),
        ...(stale === undefined ? {} : { stale: { asOf: new Date(stale.asOf).toISOString() } }),
      };
    },
  };
}

/** What the end of a call is, whatever else its outcome says. */
type EndFacts = Pick<
  Outcome,
  "outcome" | "code" | "effect" | "attempts" | "durationMs" | "message" | "findings"
>;
type OutcomeFacts = EndFacts & Pick<Outcome, "callId" | "server" | "tool" | "grade">;

function modelOfToolError({ server, tool, effect }: OutcomeFacts, framed: string): string {
  const code = "tool_error";
  return modelMessage({ server: server ?? "", tool, outcome: code, code, effect, framed });
}

/** Of the last tool that was called in a turn: most calls repeat it, and calls that share an object can share its record. */
const contexts = new WeakMap<TurnState, { readonly tool: RegisteredTool; readonly context: JsonObject }>();

function contextOf(request: CallRequest, plan: Prepared | undefined): JsonObject {
  if (plan === undefined || request.undoes !== undefined) return makeContext(request, plan);
  const known = contexts.get(request.turn);
  if (known?.tool === plan.tool) return known.context;
  const context = makeContext(request, plan);
  contexts.set(request.turn, { tool: plan.tool, context });
  return context;
}

/** In the order of canonical JSON, like all that is recorded of every call. */
function makeContext({ turn, undoes }: CallRequest, plan: Prepared | undefined): JsonObject {
  const of = plan === undefined ? {} : { connection: connectionId(plan.tool.key) };
  const pin = plan === undefined ? {} : { pin: plan.tool.entry.pin };
  const undone = undoes === undefined ? {} : { undoes: undoes.callId };
  return { ...of, conversation: turn.conversation.id, ...pin, turn: turn.id, ...undone };
}

/** The same decision is recorded as the same object, so that calls which share it can share its record. */
const recorded = new WeakMap<Decision, CallDecided>();

function decidedOf({ decision, arguments: args }: Prepared, consent?: Consent): CallDecided {
  if (consent !== undefined) {
    const { by, channel, answers } = consent;
    return { ...toDecided(decision), approvedBy: by, channel, answers, arguments: args };
  }
  const known = recorded.get(decision);
  if (known !== undefined) return known;
  const made = toDecided(decision);
  recorded.set(decision, made);
  return made;
}

/** A person said no: who, when, and where. */
function deniedOf({ decision: { grade, gradeFrom } }: Prepared, error: PortcullisError): CallDecided {
  const { by, channel, at, approvalId } = error.data;
  return {
    decision: "deny",
    grade,
    gradeFrom,
    reasons: [{ rule: "approval.denied", message: error.message }],
    code: "approval_denied",
    basis: { kind: "approval", id: String(approvalId) },
    answers: [{ by: String(by), channel: String(channel), at: Number(at) }],
  };
}

function toDecided({ decision, grade, gradeFrom, reasons, findings, code, basis }: Decision): CallDecided {
  return {
    decision,
    grade,
    gradeFrom,
    reasons,
    findings,
    ...(code === undefined ? {} : { code }),
    ...(basis === undefined ? {} : { basis }),
  };
}

/** What the model reads of a failure: our own words, and the server's or a person's framed or quoted. */
function failureForModel(
  core: Core,
  facts: Pick<Outcome, "server" | "tool" | "outcome" | "code" | "effect">,
  error: PortcullisError,
  stale: StaleAnswer | undefined,
): string {
  if (facts.outcome === "completed") throw new PortcullisError("internal", "a failure is not completed");
  const source = { server: facts.server ?? "", name: facts.tool };
  const { rpc, retryAfterMs } = error.data as { rpc?: { message?: unknown }; retryAfterMs?: unknown };
  const said =
    typeof rpc?.message === "string" ? core.channels.modelText("error", source, rpc.message).text : null;
  return modelMessage({
    server: source.server,
    tool: facts.tool,
    outcome: facts.outcome,
    code: facts.code,
    effect: facts.effect,
    hints: hintsOf(error),
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : null,
    framed: stale === undefined ? said : `${stale.message}\n${stale.model}`,
  });
}

function hintsOf(error: PortcullisError): readonly string[] {
  const { hint, near, reason } = error.data;
  if (typeof hint === "string") return hint.split("\n");
  if (Array.isArray(near)) return near.map((name) => `there is \`${String(name)}\``);
  return typeof reason === "string" ? [`the person says: ${reason}`] : [];
}

/** What came too late, by its form: only a success means that the call was applied after all. */
function lateOutcome(answer: LateAnswer): LateMark["outcome"] {
  if (answer.kind === "rpc-error") return "remote_error";
  return answer.result["isError"] === true ? "tool_error" : "completed";
}
