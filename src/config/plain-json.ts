/**
 * A copy of a value given in code as plain JSON: own members only, no getters run twice, no cycles, bounded. Members that
 * are `undefined` are left out, as JSON does.
 */
import { keyMessages } from "../base/exact-json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { MAX_CONFIG_DEPTH } from "./jsonc.ts";
import { wrongKey, wrongValue, type ConfigPath, type RawProblem } from "./problems.ts";

/** More values than any honest configuration holds. */
const MAX_VALUES = 200_000;

/** What JSON has no number for: in a file it is written as `1e400` and the like. */
function describeNoNumber(value: number): string {
  if (Number.isNaN(value)) return "is `NaN`: write a number, or leave it out";
  return `is ${value > 0 ? "larger" : "smaller"} than any number can be: write one nearer to zero`;
}

/** The copy, and what was not JSON in `value` (left out of the copy). Never throws. */
export function copyPlainJson(value: unknown): {
  readonly value: JsonValue;
  readonly problems: readonly RawProblem[];
} {
  const problems: RawProblem[] = [];
  let count = 0;

  const copy = (from: unknown, path: ConfigPath): JsonValue | undefined => {
    count += 1;
    if (count > MAX_VALUES) {
      if (count === MAX_VALUES + 1) problems.push(wrongValue([], `more than ${MAX_VALUES} values`));
      return undefined;
    }
    if (from === null || typeof from === "string" || typeof from === "boolean") return from;
    if (typeof from === "number" && Number.isFinite(from)) return from;
    if (typeof from !== "object") {
      problems.push(
        wrongValue(
          path,
          typeof from === "number" ? describeNoNumber(from) : `expected JSON, got a ${typeof from}`,
        ),
      );
      return undefined;
    }
    if (path.length >= MAX_CONFIG_DEPTH) {
      problems.push(wrongValue(path, `nested more than ${MAX_CONFIG_DEPTH} levels deep`));
      return undefined;
    }
    if (Array.isArray(from))
      return from.map((member: unknown, index) => copy(member, [...path, index]) ?? null);
    const object: JsonObject = {};
    for (const key of Object.keys(from)) {
      const member: unknown = (from as Record<string, unknown>)[key];
      if (member === undefined) continue;
      if (key === "__proto__") {
        problems.push(wrongKey([...path, key], keyMessages.proto));
        continue;
      }
      const copied = copy(member, [...path, key]);
      if (copied !== undefined) object[key] = copied;
    }
    return object;
  };

  try {
    return { value: copy(value, []) ?? null, problems };
  } catch (error) {
    // A getter or a proxy of the caller threw.
    const reason = error instanceof Error ? error.message : String(error);
    return { value: null, problems: [wrongValue([], `cannot be read: ${reason.slice(0, 200)}`)] };
  }
}
