/** What is written down of a call while it runs: its marks, its events, and its end as an outcome. Decides nothing. */
import type { Trail } from "../audit/call-trail.ts";
import type { CallClosed, CallDecided, CallOpened, LateAnswer as LateMark } from "../audit/marks.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { timedId } from "../base/random.ts";
import type { LateAnswer } from "../client/correlation.ts";
import { lastWordsOf } from "../connection/failure.ts";
import { PortcullisError } from "../errors.ts";
import { methods } from "../protocol/methods.ts";
import type { Intake } from "../results/intake.ts";
import type { Decision } from "../policy/decision.ts";
import { modelMessage } from "../results/outcome-text.ts";
import { connectionId, type Finding, type Grade } from "../vocabulary.ts";
import type { CallOptions } from "./api.ts";
import type { Consent } from "./approve.ts";
import type { CallRequest } from "./call.ts";
import type { Core, Running } from "./core.ts";
import type { ExchangePlan, ExchangeProgress } from "./exchange.ts";
import { effectOf, outcomeOf, type Outcome } from "./outcome.ts";
import type { Prepared } from "./prepare.ts";
import type { StaleAnswer } from "./remember.ts";
import { requireUnchanged, type ResolvedTool } from "./resolve-tool.ts";

export interface CallStory {
  readonly callId: string;
  /** What is known of it now. */
  running(): Running;
  readonly progress: ExchangeProgress;
  found(resolved: ResolvedTool): void;
  /** The first mark, and the decision. @throws PortcullisError `audit_unavailable`. */
  open(plan: Prepared): Promise<void> | undefined;
  /** A person is asked now, unless the call waits for nobody. */
  asking(): void;
  /** Decided anew, after a person's answer. */
  decided(plan: Prepared, consent: Consent): void;
  exchangePlan(plan: Prepared, signal: AbortSignal): ExchangePlan;
  /** The trace that calls which this one makes belong to. */
  trace(): Pick<CallOptions, "trace">;
  /** The server answered. @param undoUntil epoch milliseconds; `null`: it cannot be taken back. */
  close(taken: Intake, undoUntil: number | null): Outcome | Promise<Outcome>;
  /** Anything else happened. */
  fail(error: PortcullisError, stale: StaleAnswer | undefined): Promise<Outcome>;
}

export function beginStory(core: Core, request: CallRequest): CallStory {
  return new Story(core, request);
}

/** A class, because every call has one: closures would cost it each time. */
class Story implements CallStory {
  readonly callId: string;
  readonly progress: ExchangeProgress = { attempts: 0, wasDispatched: false };
  readonly #core: Core;
  readonly #request: CallRequest;
  readonly #startedMs: number;
  #server: string | null;
  #tool: string;
  #isKnown = false;
  #plan: Prepared | undefined;
  #trail: Trail | undefined;

  constructor(core: Core, request: CallRequest) {
    const { query } = request;
    this.callId = request.callId ?? timedId(core.random, core.clock.now());
    this.#core = core;
    this.#request = request;
    this.#startedMs = core.clock.monotonic();
    this.#server = typeof query === "string" ? null : query.server;
    this.#tool = typeof query === "string" ? query : query.tool;
  }

  running(): Running {
    return { callId: this.callId, server: this.#server, tool: this.#tool };
  }

  found({ server, tool }: ResolvedTool): void {
    this.#server = server.name;
    this.#tool = tool.entry.name;
    this.#isKnown = true;
  }

  open(plan: Prepared): Promise<void> | undefined {
    this.#plan = plan;
    const opening = this.#core.audit.open(this.#opened());
    if (opening instanceof Promise) return opening.then((trail) => this.#begin(trail, plan));
    this.#begin(opening, plan);
    return undefined;
  }

  asking(): void {
    const core = this.#core;
    const { wait, consent } = this.#request.options;
    if (!core.hearsCalls() || (wait === false && consent === undefined)) return;
    core.emit({ type: "call.asked", at: core.clock.now(), callId: this.callId });
  }

  decided(plan: Prepared, consent: Consent): void {
    const core = this.#core;
    this.#plan = plan;
    this.#trail?.decided(decidedOf(plan, consent));
    if (!core.hearsCalls()) return;
    const { channel } = consent;
    core.emit({ type: "call.approved", at: core.clock.now(), callId: this.callId, channel });
  }

  exchangePlan(plan: Prepared, signal: AbortSignal): ExchangePlan {
    const { turn, options } = this.#request;
    const core = this.#core;
    const trail = this.#trail;
    if (trail === undefined)
      throw new PortcullisError("internal", "a call is sent only after its first mark");
    return {
      callId: this.callId,
      principal: turn.principal,
      name: plan.tool.exposedName,
      server: plan.server,
      key: plan.tool.key,
      trail,
      signal,
      budget: turn.budget,
      mayRepeat: plan.decision.grade === "L0" || plan.policy.idempotent,
      mayHaveEffect: plan.decision.grade !== "L0",
      idleTimeoutMs: plan.policy.timeoutMs ?? plan.server.limits.timeoutMs,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
      ...(options.inputs === undefined ? {} : { inputs: options.inputs }),
      ...(options.trace === undefined ? {} : { trace: options.trace }),
      recheck: () => requireUnchanged(core, plan, turn.principal),
      onLate: (answer) => {
        trail.late({ outcome: lateOutcome(answer) });
        core.emit({
          type: "call.answered-late",
          at: core.clock.now(),
          callId: this.callId,
          server: plan.server.name,
          tool: this.#tool,
        });
      },
    };
  }

  trace(): Pick<CallOptions, "trace"> {
    const trace = this.#core.traceOf(this.callId) ?? this.#request.options.trace;
    return trace === undefined ? {} : { trace };
  }

  close(taken: Intake, undoUntil: number | null): Outcome | Promise<Outcome> {
    const tool = this.#tool;
    const error = taken.isError ? new PortcullisError("tool_error", `\`${tool}\` reported an error`) : null;
    const message = error?.message ?? `\`${tool}\` answered`;
    const findings = bothOf(this.#plan?.decision.findings, taken.findings);
    const answer = (facts: OutcomeFacts): Outcome => ({
      ...facts,
      content: taken.content,
      ...(taken.structured === undefined ? {} : { structured: taken.structured }),
      model: error === null ? taken.model : modelOfToolError(facts, taken.model),
      ...(taken.rest === undefined ? {} : { restId: this.callId }),
      ...(undoUntil === null ? {} : { undoUntil: new Date(undoUntil).toISOString() }),
    });
    const ended = this.#end(error, message, findings, undoUntil);
    return ended instanceof Promise ? ended.then(answer) : answer(ended);
  }

  async fail(error: PortcullisError, stale: StaleAnswer | undefined): Promise<Outcome> {
    const core = this.#core;
    const plan = this.#plan;
    if (plan !== undefined && error.code === "approval_denied") this.#trail?.decided(deniedOf(plan, error));
    const message = core.redactor.redact(error.message);
    const facts = await this.#end(error, message, bothOf(plan?.decision.findings, stale?.findings), null);
    const lastWords = lastWordsOf(error);
    const hint = typeof error.data["hint"] === "string" ? error.data["hint"] : undefined;
    return {
      ...facts,
      message: stale?.message ?? message,
      content: stale?.content ?? [],
      ...(stale?.structured === undefined ? {} : { structured: stale.structured }),
      model: failureForModel(core, facts, error, stale),
      ...(hint === undefined ? {} : { retryHint: hint }),
      ...(lastWords === undefined ? {} : { lastWords: core.redactor.redact(lastWords) }),
      ...(stale === undefined ? {} : { stale: { asOf: new Date(stale.asOf).toISOString() } }),
    };
  }

  #begin(trail: Trail, plan: Prepared): void {
    this.#trail = trail;
    if (this.#core.hearsCalls())
      this.#core.emit({ type: "call.opened", ...this.#about(), ...this.#origin() });
    trail.decided(decidedOf(plan));
  }

  /** The last mark. @returns the facts that every outcome has. */
  #end(
    error: PortcullisError | null,
    message: string,
    findings: readonly Finding[],
    undoUntil: number | null,
  ): OutcomeFacts | Promise<OutcomeFacts> {
    const { callId, progress } = this;
    const grade = this.#grade();
    const facts: EndFacts = {
      outcome: error === null ? "completed" : outcomeOf(error.code),
      code: error?.code ?? null,
      effect: effectOf({ grade, ...progress, error }),
      attempts: progress.attempts,
      durationMs: this.#core.clock.monotonic() - this.#startedMs,
      message,
      findings,
    };
    const closed: CallClosed = undoUntil === null ? facts : { ...facts, undoUntil };
    const whole: OutcomeFacts = { callId, server: this.#server, tool: this.#tool, grade, ...facts };
    const marking = this.#trail?.closed(closed);
    if (marking !== undefined) {
      return marking.then(() => {
        this.#tell(facts);
        return whole;
      });
    }
    if (this.#trail === undefined) this.#core.audit.refused(this.#opened(), closed);
    this.#tell(facts);
    return whole;
  }

  #tell(facts: EndFacts): void {
    const core = this.#core;
    if (core.hearsCalls()) {
      const isKnown = this.#isKnown;
      core.emit({ type: "call.closed", ...this.#about(), ...this.#origin(), isKnown, ...facts });
    }
    for (const finding of facts.findings) core.emit({ type: "finding.raised", ...this.#about(), finding });
  }

  #grade(): Grade | null {
    return this.#plan?.decision.grade ?? null;
  }

  #about() {
    return {
      at: this.#core.clock.now(),
      callId: this.callId,
      principal: this.#request.turn.principal,
      server: this.#server ?? "",
      tool: this.#tool,
      grade: this.#grade(),
    };
  }

  #origin() {
    const { clock } = this.#core;
    return {
      method: methods.callTool,
      startedAt: clock.now() - (clock.monotonic() - this.#startedMs),
      trace: this.#request.options.trace ?? null,
    };
  }

  #opened(): CallOpened {
    const plan = this.#plan;
    return {
      callId: this.callId,
      principal: this.#request.turn.principal,
      server: this.#server ?? "",
      tool: this.#tool,
      grade: this.#grade(),
      arguments: (plan?.arguments ?? this.#request.arguments) as JsonValue,
      ...(plan === undefined ? {} : { argumentsDigest: plan.digest }),
      context: contextOf(this.#request, plan),
    };
  }
}

const NO_FINDINGS: readonly Finding[] = [];

/** A list of its own: those of a decision are shared by calls. */
function bothOf(one = NO_FINDINGS, other = NO_FINDINGS): readonly Finding[] {
  return one.length + other.length === 0 ? [] : [...one, ...other];
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

/** Most calls of a turn repeat the tool, and calls that share an object can share its record. */
function contextOf(request: CallRequest, plan: Prepared | undefined): JsonObject {
  const { turn } = request;
  if (plan === undefined || request.undoes !== undefined) return makeContext(request, plan);
  if (turn.context?.tool !== plan.tool)
    turn.context = { tool: plan.tool, recorded: makeContext(request, plan) };
  return turn.context.recorded;
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
