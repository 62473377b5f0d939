/**
 * Runs the guards of a tool over the arguments of a call, one after another, each seeing what the one before rewrote.
 *
 * Invariants: a guard that fails to run denies; an argument that a guard names and the call does not give denies; nothing
 * given is written to; running the guards again over what came out changes nothing.
 */
import { assertNever } from "../../base/assert-never.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { GuardRule } from "../../config/compiled.ts";
import { locateValues, replaceValue } from "../argument-values.ts";
import { checkMatch } from "./match.ts";
import { checkNumber } from "./number.ts";
import { checkPath, type PathContext } from "./path.ts";
import { checkSql } from "./sql.ts";
import { checkUrl } from "./url.ts";
import type { GuardVerdict, ValueVerdict } from "./verdict.ts";

export interface GuardedArguments {
  /** As they may be sent; the given ones where nothing was rewritten. */
  readonly arguments: JsonObject;
  readonly verdicts: readonly GuardVerdict[];
}

/** Never throws. Stops at the first denial. */
export async function runGuards(
  rules: readonly GuardRule[],
  args: JsonObject,
  context: PathContext,
): Promise<GuardedArguments> {
  const verdicts: GuardVerdict[] = [];
  let current = args;
  for (const rule of rules) {
    const { kind: guard, argument } = rule;
    try {
      const values = locateValues(current, argument);
      if (values.length === 0) {
        verdicts.push({
          kind: "deny",
          guard,
          argument,
          reason: "the argument is missing, so it cannot be checked",
          hasFailed: false,
        });
        return { arguments: current, verdicts };
      }
      for (const { steps, value } of values) {
        if (Array.isArray(value) && value.length === 0) continue;
        const verdict = await checkValue(rule, value, context);
        if (verdict.kind === "allow") continue;
        if (verdict.kind === "deny") {
          verdicts.push({ kind: "deny", guard, argument, reason: verdict.reason, hasFailed: false });
          return { arguments: current, verdicts };
        }
        verdicts.push({
          kind: "rewrite",
          guard,
          argument,
          before: value,
          after: verdict.after,
          reason: verdict.reason,
        });
        current = replaceValue(current, steps, verdict.after as JsonValue);
      }
      verdicts.push({ kind: "allow", guard, argument });
    } catch (error) {
      const detail = (error instanceof Error ? error.message : String(error)).slice(0, 200);
      verdicts.push({
        kind: "deny",
        guard,
        argument,
        reason: `the guard could not run: ${detail}`,
        hasFailed: true,
      });
      return { arguments: current, verdicts };
    }
  }
  return { arguments: current, verdicts };
}

function checkValue(
  rule: GuardRule,
  value: JsonValue,
  context: PathContext,
): ValueVerdict | Promise<ValueVerdict> {
  switch (rule.kind) {
    case "sql":
      return checkSql(value, rule.dialect, rule.maxRows);
    case "path":
      return checkPath(value, rule.roots, context);
    case "url":
      return checkUrl(value, rule.hosts);
    case "number":
      return checkNumber(value, rule.min, rule.max);
    case "match":
      return checkMatch(value, rule.pattern);
    default:
      return assertNever(rule);
  }
}
