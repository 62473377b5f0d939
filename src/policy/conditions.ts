/**
 * Argument conditions: `when` of a tool's rule. A condition can only raise a grade, so whatever cannot be judged (a wrong
 * type where a text was expected) counts as met.
 */
import { canonicalJson, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ArgumentCondition, ArgumentTest } from "../config/compiled.ts";
import { locateValues } from "./argument-values.ts";
import { findsPattern } from "./guards/pattern.ts";

/** Whether all tests of `condition` hold. @throws RangeError for a pattern that does not compile, or too many values. */
export function holdsCondition(condition: ArgumentCondition, args: JsonObject): boolean {
  return Object.entries(condition.arguments).every(([path, test]) =>
    holdsTest(
      test,
      locateValues(args, path).map(({ value }) => value),
    ),
  );
}

function holdsTest(test: ArgumentTest, values: readonly JsonValue[]): boolean {
  const { isPresent, equals, matches, notMatches, above, below } = test;
  if (isPresent !== undefined && values.length > 0 !== isPresent) return false;
  if (equals !== undefined && !values.some((value) => isEqual(value, equals))) return false;
  if (matches !== undefined && !values.some((value) => fits(value, matches, true))) return false;
  if (
    notMatches !== undefined &&
    values.length > 0 &&
    !values.some((value) => fits(value, notMatches, false))
  )
    return false;
  if (above !== undefined && !values.some((value) => compares(value, (number) => number > above)))
    return false;
  if (below !== undefined && !values.some((value) => compares(value, (number) => number < below)))
    return false;
  return true;
}

/** `7` and `"7"` are the same to many tools, so they are the same here. */
function isEqual(value: JsonValue, wanted: unknown): boolean {
  if (typeof value === "object" || typeof wanted === "object")
    return canonicalJson(value) === canonicalJson(wanted);
  return `${value}` === `${wanted as string | number | boolean}`;
}

function fits(value: JsonValue, pattern: string, isWanted: boolean): boolean {
  if (typeof value === "object" && value !== null) return true;
  return findsPattern(pattern, String(value)) === isWanted;
}

function compares(value: JsonValue, test: (number: number) => boolean): boolean {
  if (typeof value === "number") return test(value);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isNaN(number) || test(number);
}
