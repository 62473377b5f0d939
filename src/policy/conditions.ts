/**
 * Argument conditions: `when` of a tool's rule. A condition can only raise a grade, so whatever cannot be judged (a wrong
 * type where a text was expected) counts as met.
 */
import { canonicalJson, isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { ArgumentCondition, ArgumentTest } from "../config/compiled.ts";
import { findsPattern } from "./guards/pattern.ts";

/** Values looked at per path: a longer list counts as met, so that nothing hides behind the cap. */
const MAX_VALUES = 10_000;

/** Whether all tests of `condition` hold. @throws RangeError for a pattern that does not compile. */
export function holdsCondition(condition: ArgumentCondition, args: JsonObject): boolean {
  return Object.entries(condition.arguments).every(([path, test]) => holdsTest(test, valuesAt(args, path)));
}

/**
 * All values under a dotted path. A list on the way is entered, so `messages.to` names the `to` of each message; a property
 * whose own name holds the dots goes first. Own properties only.
 *
 * @returns nothing where the path leads nowhere; a list at the end of the path is given item by item as well as whole.
 */
export function valuesAt(args: JsonObject, path: string): readonly unknown[] {
  if (Object.hasOwn(args, path)) return spread(args[path]);
  let level: unknown[] = [args];
  for (const name of path.split(".")) {
    const next: unknown[] = [];
    for (const value of level) {
      for (const holder of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (!isJsonObject(holder)) continue;
        const member = ownProperty(holder, name);
        if (member !== undefined) next.push(member);
      }
      if (next.length > MAX_VALUES) throw new RangeError(`argument \`${path}\` holds more than ${MAX_VALUES} values`);
    }
    level = next;
  }
  return level.flatMap(spread);
}

function spread(value: unknown): unknown[] {
  if (!Array.isArray(value)) return [value];
  if (value.length > MAX_VALUES) throw new RangeError(`an argument holds more than ${MAX_VALUES} values`);
  return value.length === 0 ? [value] : (value as unknown[]);
}

function holdsTest(test: ArgumentTest, values: readonly unknown[]): boolean {
  if (test.isPresent !== undefined && values.length > 0 !== test.isPresent) return false;
  if (test.equals !== undefined && !values.some((value) => isEqual(value, test.equals))) return false;
  const { matches, notMatches, above, below } = test;
  if (matches !== undefined && !values.some((value) => fits(value, matches, true))) return false;
  if (notMatches !== undefined && values.length > 0 && !values.some((value) => fits(value, notMatches, false))) return false;
  if (above !== undefined && !values.some((value) => compares(value, (number) => number > above))) return false;
  if (below !== undefined && !values.some((value) => compares(value, (number) => number < below))) return false;
  return true;
}

/** `7` and `"7"` are the same to many tools, so they are the same here. */
function isEqual(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return true;
  if (typeof value === "object" || typeof wanted === "object") return canonicalJson(value) === canonicalJson(wanted);
  return String(value) === String(wanted);
}

function fits(value: unknown, pattern: string, isWanted: boolean): boolean {
  if (typeof value === "object" && value !== null) return true;
  return findsPattern(pattern, String(value)) === isWanted;
}

function compares(value: unknown, test: (number: number) => boolean): boolean {
  if (typeof value === "number") return test(value);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isNaN(number) || test(number);
}
