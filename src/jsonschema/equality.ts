/**
 * Equality of JSON values (JSON Schema core, 4.2.2): by value, members in any order, `1` and `1.0` the same number. For many
 * values against each other a key is made of each, so that `enum` and `uniqueItems` stay linear.
 */
import { isObject, spend, type Run } from "./check.ts";

const MAX_KEY_DEPTH = 256;

/**
 * A text that is the same for equal values and for no others. Primitives give themselves where that is unambiguous.
 *
 * Pays one step per member and per 64 characters. @throws what `spend` throws, also for a value nested too deeply.
 */
export function equalityKey(value: unknown, run: Run): unknown {
  if (typeof value === "string") {
    spend(run, 1 + (value.length >> 6));
    return value.startsWith("\u0000") ? `\u0000s${value}` : value;
  }
  if (typeof value !== "object" || value === null) {
    spend(run, 1);
    return value;
  }
  const parts: string[] = ["\u0000"];
  writeKey(value, run, parts, 0);
  return parts.join("");
}

function writeKey(value: unknown, run: Run, parts: string[], depth: number): void {
  spend(run, depth > MAX_KEY_DEPTH ? Number.POSITIVE_INFINITY : 1);
  if (Array.isArray(value)) {
    parts.push("[");
    for (const item of value) {
      writeKey(item, run, parts, depth + 1);
      parts.push(",");
    }
    parts.push("]");
    return;
  }
  if (isObject(value)) {
    const names = Object.keys(value);
    spend(run, names.length);
    parts.push("{");
    for (const name of names.sort()) {
      parts.push(JSON.stringify(name), ":");
      writeKey(value[name], run, parts, depth + 1);
      parts.push(",");
    }
    parts.push("}");
    return;
  }
  if (typeof value === "string") {
    spend(run, value.length >> 6);
    parts.push(JSON.stringify(value));
    return;
  }
  // -0 and 0 are one number.
  parts.push(value === 0 ? "0" : String(value));
}

/** Whether two values are equal. Bounded by the smaller one, which for `const` is the schema's. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => isEqualJson(item, other[at]))
    );
  }
  if (Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(other, name) &&
      isEqualJson((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}
