/**
 * The decision about one call, as a pure function: allow, ask or deny, always with reasons.
 *
 * Invariants: L2 and L3 are allowed only on an approval or a grant that covers exactly this call and has not run out; a
 * grant never answers for L3, nor over provenance or a toxic flow; whatever throws in here denies.
 */
import { digestJson, type JsonObject } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { ErrorCode } from "../errors.ts";
import { isSameBinding, type CallBinding, type Finding, type Grade, type Principal } from "../vocabulary.ts";
import type { Decision, Reason } from "./decision.ts";
import { gradeOf, type GradeVerdict } from "./grades.ts";
import type { GuardVerdict } from "./guards/verdict.ts";
import { isToxic, labelsOf, type Flow } from "./labels.ts";
import { isInRollout } from "./rollout.ts";
import { policyOf, type ToolFacts } from "./rules.ts";

/** An approval as the broker hands it over. */
export interface GivenApproval {
  readonly id: string;
  readonly binding: CallBinding;
  /** How often a person said yes; L3 needs two, the second by typing. */
  readonly confirmations: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A standing approval that was found for the call. */
export interface GivenGrant {
  readonly id: string;
  /** `digest: null` covers any arguments of the tool. */
  readonly binding: Omit<CallBinding, "digest"> & { readonly digest: string | null };
  readonly expiresAt: number;
  readonly usesLeft: number;
}

export interface PolicyInput {
  readonly server: ServerConfig;
  readonly tool: ToolFacts;
  readonly principal: Principal;
  /** The accepted pin of the tool's definition. */
  readonly pin: string;
  /** As they would be sent: after the guards. */
  readonly arguments: JsonObject;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly isPaused: boolean;
  readonly flow: Flow;
  /** Values in the arguments that came out of tool outputs; a function is only called for L1 and up. */
  readonly provenance: readonly Finding[] | (() => readonly Finding[]);
  /** What a provenance finding on L2 and L3 does; default `ask`. */
  readonly onProvenance?: "ask" | "deny";
  readonly guards: readonly GuardVerdict[];
  /** Findings about the tool's own definition: those of severity high ask, and no grant answers. */
  readonly suspicions?: readonly Finding[];
  readonly approval?: GivenApproval;
  /** Only where `approvals.grants` is on. */
  readonly grant?: GivenGrant;
}

/** Decides. Never throws. */
export function evaluate(input: PolicyInput): Decision {
  try {
    return decide(input);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return {
      decision: "deny",
      grade: "L3",
      gradeFrom: "default",
      reasons: [
        {
          rule: "policy.failed",
          message: `a rule could not be evaluated, so the call is refused: ${detail.slice(0, 200)}`,
        },
      ],
      code: "policy_denied",
      findings: [],
      needsPerson: true,
    };
  }
}

function decide(input: PolicyInput): Decision {
  const verdict = gradeOf(input.server, input.tool, input.arguments);
  const { grade } = verdict;
  const policy = policyOf(input.server, input.tool);
  const provenance = provenanceOf(input, grade);
  const refusal = findRefusal(input, verdict, provenance);
  const isToxicCall = isToxic(input.flow, labelsOf(input.server, policy, grade));
  const findings = isToxicCall ? [...provenance, toxicFinding(input.flow)] : provenance;
  const answer = (
    decision: Decision["decision"],
    reasons: readonly Reason[],
    more: { code?: ErrorCode; basis?: Decision["basis"]; needsPerson: boolean },
  ): Decision => ({
    decision,
    grade,
    gradeFrom: verdict.from,
    reasons: [...verdict.reasons, ...reasons],
    findings,
    ...definedOnly(more),
  });

  if (refusal !== null) return answer("deny", [refusal.reason], { code: refusal.code, needsPerson: false });

  const isDangerous = grade === "L2" || grade === "L3";
  const questions: Reason[] = [];
  if (isDangerous)
    questions.push({
      rule: `ask.${grade}`,
      message: grade === "L2" ? "hard to reverse" : "irreversible, so two confirmations",
    });
  if (grade === "L1" && policy.ask)
    questions.push({ rule: "ask.rule", message: "the rule of this tool says to ask" });
  const personal: Reason[] = [];
  if (isDangerous)
    personal.push(...provenance.map((finding) => ({ rule: finding.rule, message: finding.message })));
  if (isToxicCall) personal.push({ rule: "flow.toxic", message: toxicFinding(input.flow).message });
  for (const finding of input.suspicions ?? []) {
    if (finding.severity === "high")
      personal.push({
        rule: finding.rule,
        message: `the tool's definition is suspicious: ${finding.message}`,
      });
  }

  if (questions.length === 0 && personal.length === 0) {
    const allow = (): Decision => {
      const why = whyAllowed(grade, policy.undo !== null);
      return answer("allow", [{ rule: `allow.${grade}`, message: why }], { needsPerson: false });
    };
    return findings.length === 0 ? plainly(verdict, allow) : allow();
  }
  const asked = [...questions, ...personal];
  const needsPerson = grade === "L3" || personal.length > 0;
  if (input.approval !== undefined) {
    const problem = approvalProblem(input.approval, bindingOf(input), input.now, grade);
    if (problem === null) {
      return answer(
        "allow",
        [...asked, { rule: "approval.given", message: "a person approved exactly this call" }],
        {
          basis: { kind: "approval", id: input.approval.id },
          needsPerson,
        },
      );
    }
    asked.push({ rule: "approval.unfit", message: problem });
  }
  if (input.grant !== undefined) {
    const problem = needsPerson
      ? "a standing approval does not answer this"
      : grantProblem(input.grant, bindingOf(input), input.now);
    if (problem === null) {
      return answer("allow", [...asked, { rule: "grant.used", message: "a standing approval covers it" }], {
        basis: { kind: "grant", id: input.grant.id },
        needsPerson,
      });
    }
    asked.push({ rule: "grant.unfit", message: problem });
  }
  return answer("ask", asked, { needsPerson });
}

/** A verdict belongs to one tool: where nothing else speaks, every call of it gets the same decision. */
const plainDecisions = new WeakMap<GradeVerdict, Decision>();

function plainly(verdict: GradeVerdict, decide: () => Decision): Decision {
  const known = plainDecisions.get(verdict);
  if (known !== undefined) return known;
  const decision = decide();
  plainDecisions.set(verdict, decision);
  return decision;
}

/** An L0 call changes nothing; what it might carry outward is the matter of the labels. */
function provenanceOf({ provenance }: PolicyInput, grade: Grade): readonly Finding[] {
  if (grade === "L0" || grade === "off") return [];
  return typeof provenance === "function" ? provenance() : provenance;
}

function findRefusal(
  input: PolicyInput,
  verdict: GradeVerdict,
  provenance: readonly Finding[],
): { code: ErrorCode; reason: Reason } | null {
  const refuse = (code: ErrorCode, rule: string, message: string) => ({ code, reason: { rule, message } });
  if (verdict.grade === "off") return refuse("tool_off", "off", "the tool is turned off");
  if (!isInRollout(input.server, input.principal)) {
    return refuse("outside_rollout", "rollout.outside", "the server is not rolled out to this principal");
  }
  if (input.isPaused) return refuse("server_paused", "paused", "the server is paused");
  for (const guard of input.guards) {
    if (guard.kind !== "deny") continue;
    return refuse(
      guard.hasFailed ? "guard_failed" : "guard_denied",
      `guard.${guard.guard}`,
      `\`${guard.argument}\`: ${guard.reason}`,
    );
  }
  if (!verdict.isEnabled)
    return refuse(
      "tool_not_enabled",
      "L3.not-enabled",
      'an L3 tool does nothing until its rule says "enabled": true',
    );
  const first = provenance[0];
  if (
    first !== undefined &&
    input.onProvenance === "deny" &&
    (verdict.grade === "L2" || verdict.grade === "L3")
  ) {
    return refuse("policy_denied", first.rule, first.message);
  }
  return null;
}

function approvalProblem(
  approval: GivenApproval,
  call: CallBinding,
  now: number,
  grade: Grade,
): string | null {
  if (!isSameBinding(approval.binding, call)) return "the approval is for another call";
  if (!(approval.expiresAt > now)) return "the approval has run out";
  if (!(approval.confirmations >= (grade === "L3" ? 2 : 1))) return "a confirmation is missing";
  return null;
}

function grantProblem(grant: GivenGrant, call: CallBinding, now: number): string | null {
  if (!isSameBinding({ ...grant.binding, digest: grant.binding.digest ?? call.digest }, call)) {
    return "the standing approval is for another call";
  }
  if (!(grant.expiresAt > now)) return "the standing approval has run out";
  if (!(grant.usesLeft > 0)) return "the standing approval is used up";
  return null;
}

/** Made here, and only where something must be compared with it, so that it always fits the arguments decided about. */
function bindingOf(input: PolicyInput): CallBinding {
  return {
    principal: input.principal,
    server: input.server.name,
    tool: input.tool.name,
    digest: digestJson(input.arguments),
    pin: input.pin,
  };
}

function whyAllowed(grade: Grade, hasUndo: boolean): string {
  if (grade === "L0") return "it only reads";
  return hasUndo ? "it can be taken back" : "graded as not worth a question";
}

function toxicFinding(flow: Flow): Finding {
  return {
    rule: "flow.toxic",
    severity: "high",
    where: "",
    message:
      `it sends outward after private data (\`${flow.sawPrivate ?? ""}\`) and untrusted content (\`${flow.sawUntrusted ?? ""}\`) were read`.slice(
        0,
        300,
      ),
  };
}

function definedOnly(more: {
  code?: ErrorCode;
  basis?: Decision["basis"];
  needsPerson: boolean;
}): Pick<Decision, "code" | "basis" | "needsPerson"> {
  return {
    needsPerson: more.needsPerson,
    ...(more.code === undefined ? {} : { code: more.code }),
    ...(more.basis === undefined ? {} : { basis: more.basis }),
  };
}
