/** JSON: types, guards, a canonical form (RFC 8785 in spirit: sorted keys, no white space) and its digest. */
import { hash } from "node:crypto";

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of an own property; `undefined` where there is none, so that `__proto__` and `constructor` are ordinary names. */
export function ownProperty(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

const MAX_CANONICAL_DEPTH = 512;

/**
 * The canonical text of a JSON value: keys in code-unit order, no white space, members that are `undefined` left out. Quick
 * where the members stand in order already.
 *
 * @throws RangeError for a value nested deeper than `maxDepth` (default 512).
 */
export function canonicalJson(value: unknown, maxDepth = MAX_CANONICAL_DEPTH): string {
  return isInOrder(value, maxDepth) ? JSON.stringify(value) : sortedJson(value, maxDepth);
}

const builtInOrder = new WeakSet<object>();

/**
 * Says of a value that whoever built it put all its members in canonical order, down to the leaves, so that `canonicalJson`
 * need not look. Nobody may change it afterwards.
 */
export function inCanonicalOrder<T extends object>(value: T): T {
  builtInOrder.add(value);
  return value;
}

/** True where the built-in serialiser gives the canonical text: plain objects with rising names, down to the leaves. */
function isInOrder(value: unknown, depthLeft: number): boolean {
  if (typeof value !== "object" || value === null) return value === null || isPrimitive(value);
  if (builtInOrder.has(value)) return true;
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

function isPrimitive(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function sortedJson(value: unknown, maxDepth: number): string {
  if (maxDepth < 0) throw new RangeError("value is nested too deeply");
  if (Array.isArray(value)) {
    return `[${value.map((item) => (item === undefined ? "null" : sortedJson(item, maxDepth - 1))).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members: string[] = [];
    for (const name of Object.keys(value).sort()) {
      const member = (value as Record<string, unknown>)[name];
      if (member !== undefined) members.push(`${JSON.stringify(name)}:${sortedJson(member, maxDepth - 1)}`);
    }
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** SHA-256 of the canonical text, in hex. */
export function digestJson(value: unknown): string {
  return digestText(canonicalJson(value));
}

/** SHA-256 of a text in UTF-8, in hex. */
export function digestText(text: string): string {
  return hash("sha256", text, "hex");
}

/** Sets a member whatever its name is. */
export function setMember(target: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

/** Parses `text`; answers `undefined` for what is not JSON (JSON itself has no `undefined`). */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
