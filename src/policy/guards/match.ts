/** The `match` guard: the whole value fits a pattern (RE2 syntax, linear time). */
import type { JsonValue } from "../../base/json.ts";
import { fitsPattern } from "./pattern.ts";
import { ALLOWED, denied, type ValueVerdict } from "./verdict.ts";

const MAX_CHARACTERS = 100_000;

/** @throws RangeError for a pattern that does not compile. */
export function checkMatch(value: JsonValue, pattern: string): ValueVerdict {
  if (typeof value === "object") return denied("it is not a text, a number or a boolean");
  const text = String(value);
  if (text.length > MAX_CHARACTERS) return denied(`it is longer than ${MAX_CHARACTERS} characters`);
  return fitsPattern(pattern, text) ? ALLOWED : denied(`it does not fit \`${pattern}\``);
}
