/**
 * Step 2 of a call: arguments → guards → decision. Everything that is decided about the arguments is decided about exactly
 * what would be sent; when that changes (a guard rewrites, a person takes items out), this runs again.
 */
import { canonicalJson, digestText, type JsonObject } from "../base/json.ts";
import { inSlices, type Sliced } from "../base/slices.ts";
import { PortcullisError } from "../errors.ts";
import { runGuards, type GuardedArguments } from "../policy/guards/run.ts";
import type { Decision } from "../policy/decision.ts";
import { evaluate, type GivenApproval, type GivenGrant } from "../policy/evaluate.ts";
import { policyOf, type ToolFacts, type ToolPolicy } from "../policy/rules.ts";
import { argumentsVerdict } from "../registry/arguments.ts";
import type { ArgumentOrigin } from "../approvals/details.ts";
import type { CallBinding, Principal } from "../vocabulary.ts";
import type { Conversation } from "./conversation.ts";
import type { Core } from "./core.ts";
import type { ResolvedTool } from "./resolve-tool.ts";

export interface Prepared extends ResolvedTool {
  readonly policy: ToolPolicy;
  /** As they would be sent. */
  readonly arguments: JsonObject;
  /** What was repaired, filled in or rewritten, a sentence each. */
  readonly notes: readonly string[];
  readonly decision: Decision;
  readonly origins: readonly ArgumentOrigin[];
  /** Canonical text of the arguments; made when it is first asked for. */
  readonly text: () => string;
  /** Its digest, the same as `digestJson` of the arguments. */
  readonly digest: () => string;
}

interface Caller {
  readonly principal: Principal;
  readonly conversation: Conversation;
}

interface Given {
  readonly approval?: GivenApproval;
  readonly grant?: GivenGrant;
  readonly undoes?: Undoing;
}

/**
 * There at once where no guard has to run and the arguments are no large ones.
 *
 * @throws PortcullisError `invalid_arguments` with `data.hint`, `tool_quarantined` where its schema cannot be used.
 */
export function prepare(
  core: Core,
  resolved: ResolvedTool,
  args: unknown,
  who: Caller,
  given: Given = {},
): Prepared | Promise<Prepared> {
  const checking = inSlices(checkFor(core, resolved, args));
  const judge = (checked: Checked) => judgeChecked(core, resolved, checked, who, given);
  return checking instanceof Promise ? checking.then(judge) : judge(checking);
}

function judgeChecked(
  core: Core,
  resolved: ResolvedTool,
  checked: Checked,
  who: Caller,
  given: Given,
): Prepared | Promise<Prepared> {
  const { launch } = resolved.server;
  const facts = factsOf(resolved);
  const policy = policyOf(resolved.server, facts);
  const decide = (guarded: GuardedArguments): Prepared =>
    decideAbout(core, { ...resolved, facts, policy, checked, guarded }, who, given);
  if (policy.guards.length === 0) return decide({ arguments: checked.arguments, verdicts: [] });
  const context = { cwd: launch.kind === "stdio" ? launch.cwd : null, isLocal: launch.kind === "stdio" };
  return runGuards(policy.guards, checked.arguments, context).then(decide);
}

interface Checked {
  readonly arguments: JsonObject;
  readonly notes: readonly string[];
}

interface Guarded extends ResolvedTool {
  readonly facts: ToolFacts;
  readonly policy: ToolPolicy;
  readonly checked: Checked;
  readonly guarded: GuardedArguments;
}

function decideAbout(
  core: Core,
  { server, tool, facts, policy, checked, guarded }: Guarded,
  who: Caller,
  given: Given,
): Prepared {
  const { undoes } = given;
  // Looked for only where the decision needs it: reads pay nothing.
  let provenance: ReturnType<Conversation["findIn"]> | undefined;
  const findProvenance = () => {
    provenance ??= who.conversation.findIn(guarded.arguments);
    return provenance.findings;
  };
  const judged = evaluate({
    server,
    tool: facts,
    principal: who.principal,
    pin: tool.entry.pin,
    arguments: guarded.arguments,
    now: core.clock.now(),
    isPaused: core.pauses.isPaused(server.name) || server.disabled,
    flow: who.conversation.flow,
    provenance: findProvenance,
    onProvenance: core.config().approvals.onProvenance,
    guards: guarded.verdicts,
    suspicions: tool.entry.findings,
    ...given,
  });
  const decision = undoes === undefined ? judged : askedUnlessNamed(judged, policy);
  const rewrites = guarded.verdicts.flatMap((verdict) =>
    verdict.kind === "rewrite" ? [`\`${verdict.argument}\`: ${verdict.reason}`] : [],
  );
  let text: string | undefined;
  let digest: string | undefined;
  const textOf = (): string => (text ??= canonicalJson(guarded.arguments));
  return {
    server,
    tool,
    policy,
    arguments: guarded.arguments,
    notes: [...checked.notes, ...rewrites],
    decision,
    origins: [...(undoes?.origins ?? []), ...(provenance?.origins ?? [])],
    text: textOf,
    digest: () => (digest ??= digestText(textOf())),
  };
}

/** What an undo brings along: where its arguments came from. */
export interface Undoing {
  readonly callId: string;
  readonly origins: readonly ArgumentOrigin[];
}

/** An undo asks unless its tool is L0 or L1 by its exact name: nobody typed its arguments. */
function askedUnlessNamed(decision: Decision, policy: ToolPolicy): Decision {
  if (decision.decision !== "allow" || decision.basis !== undefined) return decision;
  const isNamed = policy.rules.some((rule) => rule.isExact && rule.path === decision.gradeFrom);
  if (isNamed) return decision;
  const reason = {
    rule: "undo.unnamed",
    message: "it takes a call back, and no rule grades its tool by its exact name",
  };
  return { ...decision, decision: "ask", reasons: [...decision.reasons, reason], needsPerson: true };
}

/** What an approval or a grant of this plan is bound to. */
export function bindingOf({ server, tool, digest }: Prepared, principal: Principal): CallBinding {
  return {
    principal,
    server: server.name,
    tool: tool.entry.name,
    digest: digest(),
    pin: tool.entry.pin,
  };
}

/** What policy may know of a tool. */
export function factsOf({ tool }: ResolvedTool): ToolFacts {
  return {
    name: tool.entry.name,
    annotations: tool.entry.raw["annotations"],
    wasPresentAtAcceptance: tool.isBaseline,
  };
}

function* checkFor(core: Core, { tool }: ResolvedTool, args: unknown): Sliced<Checked> {
  const compiled = core.schemas.input(tool.entry);
  if (!compiled.ok) {
    throw new PortcullisError(
      "tool_quarantined",
      `the schema of \`${tool.entry.name}\` cannot be used: ${compiled.reason}`,
    );
  }
  if (compiled.prepare()) yield;
  const verdict = yield* argumentsVerdict({ inputSchema: tool.entry.inputSchema, compiled }, args);
  if (verdict.ok) return verdict;
  throw new PortcullisError(
    "invalid_arguments",
    `the arguments of \`${tool.exposedName}\` do not fit its schema`,
    {
      data: { hint: verdict.hint, wasSent: false },
    },
  );
}
