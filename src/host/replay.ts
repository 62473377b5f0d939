/**
 * What another policy would have decided on the calls that were recorded. Nothing is called, asked or recorded.
 *
 * It is only as good as the record, and says where it is not: arguments lie there redacted and cut, what a conversation had read
 * before is known only as far as it was found then, and approvals and grants do not count.
 */
import { digestJson, isJsonObject, type JsonObject } from "../base/json.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import { listActivity } from "../audit/activity.ts";
import type { RecordedDecision } from "../audit/decided.ts";
import type { CallActivity } from "../audit/fold.ts";
import type { ErrorCode } from "../errors.ts";
import type { Decision } from "../policy/decision.ts";
import { evaluate } from "../policy/evaluate.ts";
import { runGuards } from "../policy/guards/run.ts";
import { EMPTY_FLOW, type Flow } from "../policy/labels.ts";
import { policyOf } from "../policy/rules.ts";
import type { ListedTool } from "../registry/registry.ts";
import type { Finding, Grade, OutcomeKind, Principal } from "../vocabulary.ts";
import type { ActivityFilter } from "./api.ts";
import type { Core } from "./core.ts";
import { factsOf } from "./prepare.ts";

type Verdict = Decision["decision"];

export interface ReplayedCall {
  readonly callId: string;
  /** ISO 8601. */
  readonly at: string;
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  /** `verdict`: before anybody was asked; one that a standing approval let pass counts as `ask`. */
  readonly was: {
    readonly verdict: Verdict;
    readonly grade: Grade | null;
    readonly outcome: OutcomeKind | null;
    readonly code: ErrorCode | null;
  };
  readonly would: {
    readonly verdict: Verdict;
    readonly grade: Grade | null;
    readonly gradeFrom: string;
    readonly code: ErrorCode | null;
    readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  };
  readonly change: "same" | "stricter" | "looser";
  /** How the arguments stand in the record. */
  readonly arguments: "exact" | "redacted" | "cut";
  /** False where the verdict rests on something that the record does not hold. */
  readonly isCertain: boolean;
  /** What the record does not hold, a sentence each. */
  readonly notes: readonly string[];
}

export interface ReplayReport {
  readonly calls: readonly ReplayedCall[];
  readonly summary: Readonly<
    Record<"calls" | "same" | "stricter" | "looser" | "uncertain" | "undecided", number>
  >;
}

const STRICTNESS: readonly Verdict[] = ["allow", "ask", "deny"];
const DEFAULT_LIMIT = 1_000;

/** @param policy the configuration whose rules are tried; its servers are not started. */
export async function replay(core: Core, policy: Config, filter: ActivityFilter = {}): Promise<ReplayReport> {
  core.audit.release();
  await core.store.flush();
  const recorded = await listActivity(core.store, { limit: DEFAULT_LIMIT, ...filter });
  const calls: ReplayedCall[] = [];
  let undecided = 0;
  for (const call of recorded) {
    const [first] = call.decisions;
    // It ended before anything was decided (an unknown tool, wrong arguments), or is no call of a tool.
    if (first === undefined || call.server === null || !isJsonObject(call.arguments)) undecided += 1;
    else
      calls.push(await replayCall(core, policy, call, { first, server: call.server, args: call.arguments }));
  }
  const count = (change: ReplayedCall["change"]): number =>
    calls.filter((call) => call.change === change).length;
  return {
    calls,
    summary: {
      calls: calls.length,
      same: count("same"),
      stricter: count("stricter"),
      looser: count("looser"),
      uncertain: calls.filter(({ isCertain }) => !isCertain).length,
      undecided,
    },
  };
}

interface Recorded {
  readonly first: RecordedDecision;
  readonly server: string;
  readonly args: JsonObject;
}

async function replayCall(
  core: Core,
  policy: Config,
  call: CallActivity,
  { first, server: name, args }: Recorded,
): Promise<ReplayedCall> {
  const server = policy.servers.get(name);
  const tool = core.registry
    .list({ principal: call.principal, server: name, includeHeld: true })
    .find(({ entry }) => entry.name === call.tool);
  const holds = argumentsOf(call, args);
  const notes: string[] = [];
  if (tool === undefined)
    notes.push("the tool is not known any more, so what its definition says counts for nothing");
  const would =
    server === undefined ? notConfigured(name) : await judge(policy, server, tool, call, first, args);
  const looksAtArguments = server !== undefined && readsArguments(server, tool, call.tool);
  if (holds !== "exact" && looksAtArguments)
    notes.push(`its arguments were ${holds} in the record: conditions and guards saw only what is left`);
  const was = first.basis?.kind === "grant" ? "ask" : first.decision;
  const step = STRICTNESS.indexOf(would.verdict) - STRICTNESS.indexOf(was);
  return {
    callId: call.callId,
    at: new Date(call.at).toISOString(),
    principal: call.principal,
    server: name,
    tool: call.tool,
    was: { verdict: was, grade: first.grade, outcome: call.outcome, code: call.code },
    would,
    change: step === 0 ? "same" : step > 0 ? "stricter" : "looser",
    arguments: holds,
    isCertain: notes.length === 0,
    notes,
  };
}

async function judge(
  policy: Config,
  server: ServerConfig,
  tool: ListedTool | undefined,
  call: CallActivity,
  first: RecordedDecision,
  args: JsonObject,
): Promise<ReplayedCall["would"]> {
  const facts = factsFor(server, tool, call.tool);
  const guarded = await runGuards(policyOf(server, facts).guards, args, {
    cwd: server.launch.kind === "stdio" ? server.launch.cwd : null,
    isLocal: server.launch.kind === "stdio",
  });
  const { decision, grade, gradeFrom, code, reasons } = evaluate({
    server,
    tool: facts,
    principal: call.principal,
    pin: typeof call.context["pin"] === "string" ? call.context["pin"] : "",
    arguments: guarded.arguments,
    now: call.at,
    isPaused: server.disabled,
    flow: flowOf(first),
    provenance: first.findings.filter(({ rule }) => rule.startsWith("provenance.")).map(toFinding),
    onProvenance: policy.approvals.onProvenance,
    guards: guarded.verdicts,
    suspicions: tool?.entry.findings ?? [],
  });
  return { verdict: decision, grade, gradeFrom, code: code ?? null, reasons };
}

function factsFor(server: ServerConfig, tool: ListedTool | undefined, name: string) {
  if (tool !== undefined) return factsOf({ server, tool });
  return { name, annotations: undefined, wasPresentAtAcceptance: false };
}

function readsArguments(server: ServerConfig, tool: ListedTool | undefined, name: string): boolean {
  const { guards, when } = policyOf(server, factsFor(server, tool, name));
  return guards.length > 0 || when.length > 0;
}

function argumentsOf(call: CallActivity, args: JsonObject): ReplayedCall["arguments"] {
  if (digestJson(args) === call.argumentsDigest) return "exact";
  return call.argumentsCut ? "cut" : "redacted";
}

/** What the conversation had read is known only where it was found then. */
function flowOf({ findings }: RecordedDecision): Flow {
  if (findings.every(({ rule }) => rule !== "flow.toxic")) return EMPTY_FLOW;
  return { sawPrivate: "as recorded", sawUntrusted: "as recorded" };
}

function toFinding({ rule, message, where }: RecordedDecision["findings"][number]): Finding {
  return { rule, message, where, severity: "low" };
}

function notConfigured(server: string): ReplayedCall["would"] {
  const message = `there is no server \`${server}\` in this configuration`;
  return {
    verdict: "deny",
    grade: null,
    gradeFrom: "default",
    code: "unknown_server",
    reasons: [{ rule: "server.unknown", message }],
  };
}
