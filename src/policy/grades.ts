/**
 * The grade of a call. An exact name beats a pattern, a rule beats the server's default, the default is L2; argument
 * conditions and the server's own claim can only raise what came out. Pure; the reason is always told.
 *
 * Invariant: a grade below L2 comes from an exact name, or from a pattern or server default on a server with a `source`, for
 * a tool that was there when the server was first accepted.
 */
import type { JsonObject } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { GRADES, higherGrade, type Grade } from "../vocabulary.ts";
import { raiseByClaim, readClaim, type AnnotationClaim } from "./annotations.ts";
import { holdsCondition } from "./conditions.ts";
import type { Reason } from "./decision.ts";
import { mayLoosen, policyOf, type ToolFacts, type ToolPolicy } from "./rules.ts";

export interface GradeVerdict {
  readonly grade: Grade;
  /** The path of the rule, for example `mcpServers.github.tools["search_*"]`, or `default`. */
  readonly from: string;
  /** Why, in the order in which it was found; never empty. */
  readonly reasons: readonly Reason[];
  /** What the server says of the tool: to be shown as its claim. */
  readonly claim: AnnotationClaim;
  /** False for an L3 tool that nobody has enabled: it does nothing. */
  readonly isEnabled: boolean;
}

/**
 * Grades a tool, or one call of it.
 *
 * @param args the arguments of the call; without them the conditions are left out (a listing).
 * @throws RangeError for a condition that cannot be evaluated; `evaluate` turns that into a refusal.
 */
export function gradeOf(server: ServerConfig, tool: ToolFacts, args?: JsonObject): GradeVerdict {
  const policy = policyOf(server, tool);
  if (args !== undefined && policy.when.length > 0) return grade(server, tool, policy, args);
  const known = graded.get(policy);
  if (known !== undefined && known.annotations === tool.annotations) return known.verdict;
  const verdict = grade(server, tool, policy, undefined);
  graded.set(policy, { annotations: tool.annotations, verdict });
  return verdict;
}

/** Without conditions a verdict depends on the tool alone. A policy belongs to one tool of one configuration. */
const graded = new WeakMap<ToolPolicy, { readonly annotations: unknown; readonly verdict: GradeVerdict }>();

function grade(
  server: ServerConfig,
  tool: ToolFacts,
  policy: ToolPolicy,
  args: JsonObject | undefined,
): GradeVerdict {
  const reasons: Reason[] = [];
  const base = baseGrade(server, tool, policy, reasons);
  let current = base.grade;
  if (args !== undefined) {
    for (const condition of policy.when) {
      if (higherGrade(current, condition.grade) === current || !holdsCondition(condition, args)) continue;
      current = condition.grade;
      const names = Object.keys(condition.arguments).map((name) => `\`${name}\``);
      reasons.push({
        rule: "grade.condition",
        message: `raised to ${current} by the arguments: ${names.join(", ")}`,
      });
    }
  }
  const claim = readClaim(tool.annotations);
  const raise = raiseByClaim(tool.annotations, claim);
  if (raise !== null && higherGrade(current, raise.grade) !== current) {
    current = raise.grade;
    reasons.push({ rule: raise.reason.rule, message: `raised to ${current}: ${raise.reason.message}` });
  }
  return { grade: current, from: base.from, reasons, claim, isEnabled: current !== "L3" || policy.enabled };
}

function baseGrade(
  server: ServerConfig,
  tool: ToolFacts,
  policy: ToolPolicy,
  reasons: Reason[],
): { grade: Grade; from: string } {
  for (const rule of policy.rules) {
    if (rule.grade === null) continue;
    if (!isBelowL2(rule.grade) || mayLoosen(rule, server, tool)) {
      const how = rule.isExact ? "by its exact name" : `by the pattern \`${rule.pattern}\``;
      reasons.push({ rule: rule.isExact ? "grade.exact" : "grade.pattern", message: `${rule.grade} ${how}` });
      return { grade: rule.grade, from: rule.path };
    }
    reasons.push({
      rule: "grade.pattern-ignored",
      message: `the pattern \`${rule.pattern}\` does not count: ${whyNot(server)}`,
    });
  }
  const isTrusted = server.source !== null && tool.wasPresentAtAcceptance;
  if (!isBelowL2(server.defaultGrade) || isTrusted) {
    reasons.push({
      rule: "grade.default",
      message: `${server.defaultGrade}, because no rule names the tool`,
    });
    return { grade: server.defaultGrade, from: "default" };
  }
  reasons.push({
    rule: "grade.default",
    message: `L2, because no rule that counts names the tool and ${whyNot(server)}`,
  });
  return { grade: "L2", from: "default" };
}

function whyNot(server: ServerConfig): string {
  return server.source === null
    ? "the server has no `source`"
    : "the tool was not there when the server was accepted (`portcullis review` takes it in)";
}

function isBelowL2(grade: Grade): boolean {
  return GRADES.indexOf(grade) < GRADES.indexOf("L2");
}
