/**
 * Equality of JSON values (JSON Schema core, 4.2.2): by value, members in any order, `1` and `1.0` the same number. For many
 * values against each other a key is made of each, so that `enum` and `uniqueItems` stay linear.
 */
import { spend, type Run } from "./check.ts";

const MAX_KEY_DEPTH = 256;

/**
 * A text that is the same for equal values and for no others. Primitives give themselves where that is unambiguous.
 *
 * Pays two steps per value, one per 16 characters (they are hashed and compared where keys meet), and for putting names in
 * order. @throws what `spend` throws, also for a value nested too deeply.
 */
export function equalityKey(value: unknown, run: Run): unknown {
  if (typeof value === "string") {
    spend(run, 1 + (value.length >> 4));
    return value.startsWith("\u0000") ? `\u0000s${value}` : value;
  }
  if (typeof value !== "object" || value === null) {
    spend(run, 1);
    return value;
  }
  return `\u0000${writeKey(value, run, 0)}`;
}

/** Texts with their length before them, so that nothing has to be escaped. */
function writeKey(value: unknown, run: Run, depth: number): string {
  spend(run, depth > MAX_KEY_DEPTH ? Number.POSITIVE_INFINITY : 2);
  if (typeof value === "string") {
    spend(run, value.length >> 4);
    return `${value.length}"${value}`;
  }
  // -0 and 0 are one number.
  if (typeof value !== "object" || value === null) return value === 0 ? "0;" : `${String(value)};`;
  let key = "";
  if (Array.isArray(value)) {
    for (const item of value) key += writeKey(item, run, depth + 1);
    return `[${key}]`;
  }
  for (const name of sortedNames(value, run)) {
    key += `${name.length}:${name}${writeKey((value as Record<string, unknown>)[name], run, depth + 1)}`;
  }
  return `{${key}}`;
}

function sortedNames(value: object, run: Run): readonly string[] {
  const names = Object.keys(value);
  for (let at = 1; at < names.length; at += 1) {
    if ((names[at - 1] ?? "") <= (names[at] ?? "")) continue;
    spend(run, names.length * 4);
    return names.sort();
  }
  return names;
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
