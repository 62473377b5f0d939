/** The canonical text of a record's body, quickly where its members stand in order already: bodies that we build do. */
import { canonicalJson, type JsonValue } from "../base/json.ts";

const MAX_DEPTH = 512;

/** The same as `canonicalJson(value)`. @throws RangeError for a value nested deeper than 512, TypeError for what is no JSON. */
export function canonicalText(value: JsonValue): string {
  return isInOrder(value, MAX_DEPTH) ? JSON.stringify(value) : canonicalJson(value, MAX_DEPTH);
}

/** True where the built-in serialiser gives the canonical text: plain objects with rising names, down to the leaves. */
function isInOrder(value: unknown, depthLeft: number): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (depthLeft <= 0) return false;
  if (Array.isArray(value)) return value.every((item) => isInOrder(item, depthLeft - 1));
  // Anything else may have a `toJSON` of its own.
  if (Object.getPrototypeOf(value) !== Object.prototype || Object.hasOwn(value, "toJSON")) return false;
  let before: string | undefined;
  for (const name in value) {
    if (before !== undefined && name < before) return false;
    before = name;
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined && !isInOrder(member, depthLeft - 1)) return false;
  }
  return true;
}
