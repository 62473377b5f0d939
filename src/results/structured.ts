/**
 * JSON of a server, measured before anything recursive touches it: `structuredContent`, `_meta`, annotations. A value is kept
 * whole or not at all, because half an answer read by a program is a wrong one.
 */
import { setMember, type JsonObject, type JsonValue } from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import { cleanData, clip } from "../text/clean.ts";
import { mayHoldHidden } from "../text/hidden.ts";

export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
  /** Characters of all strings and names. */
  readonly maxCharacters: number;
}

export const STRUCTURED_LIMITS: Omit<JsonLimits, "maxCharacters"> = { maxDepth: 128, maxValues: 200_000 };

export interface JsonMeasure {
  /** What is exceeded; `null`: nothing. */
  readonly excess: "depth" | "count" | "size" | "type" | null;
  readonly holdsHidden: boolean;
  /** Seen so far: all, where nothing is exceeded. */
  readonly values: number;
  readonly characters: number;
  /** Characters of the longest text. */
  readonly longest: number;
}

/** Walks `value` without recursion and stops at the first limit that is exceeded. Takes what `JSON.parse` makes. */
export function measureJson(value: unknown, limits: JsonLimits): JsonMeasure {
  const measured = (excess: JsonMeasure["excess"]): JsonMeasure => ({
    excess,
    holdsHidden,
    values,
    characters,
    longest,
  });
  let values = 0;
  let characters = 0;
  let longest = 0;
  let holdsHidden = false;
  const items: unknown[] = [value];
  const depths: number[] = [0];
  while (items.length > 0) {
    const item = items.pop();
    const depth = depths.pop() ?? 0;
    values += 1;
    if (typeof item === "string") {
      characters += item.length;
      if (item.length > longest) longest = item.length;
      if (!holdsHidden && characters <= limits.maxCharacters) holdsHidden = mayHoldHidden(item);
    } else if (typeof item === "object" && item !== null) {
      if (depth >= limits.maxDepth) return measured("depth");
      if (Array.isArray(item)) {
        if (item.length > limits.maxValues) return measured("count");
        for (const member of item) {
          items.push(member);
          depths.push(depth + 1);
        }
      } else {
        for (const name of Object.keys(item)) {
          characters += name.length;
          if (!holdsHidden) holdsHidden = mayHoldHidden(name);
          items.push((item as Record<string, unknown>)[name]);
          depths.push(depth + 1);
        }
      }
    } else if (item !== null && typeof item !== "number" && typeof item !== "boolean")
      return measured("type");
    if (values + items.length > limits.maxValues) return measured("count");
    if (characters > limits.maxCharacters) return measured("size");
  }
  return measured(null);
}

/** Values that are cleaned without a pause: a millisecond or two of them. */
const SLICE_VALUES = 1_000;

/** A copy with every string and name cleaned for people, in slices where there are many. Only for measured values. */
export function* cleanedJson(value: JsonValue, count = { values: 0 }): Sliced<JsonValue> {
  if (typeof value === "string") return cleanData(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: JsonValue[] = [];
    for (const item of value) {
      count.values += 1;
      if (count.values % SLICE_VALUES === 0) yield;
      list.push(isContainer(item) ? yield* cleanedJson(item, count) : cleanScalar(item));
    }
    return list;
  }
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) {
    count.values += 1;
    if (count.values % SLICE_VALUES === 0) yield;
    const member = value[name] ?? null;
    const cleaned = isContainer(member) ? yield* cleanedJson(member, count) : cleanScalar(member);
    setMember(copy, cleanData(name), cleaned);
  }
  return copy;
}

function isContainer(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null;
}

function cleanScalar(value: JsonValue): JsonValue {
  return typeof value === "string" ? cleanData(value) : value;
}

/** The beginning of a value that is too large or too deep to show, as JSON text: for a model or a person to see its shape. */
export function previewJson(value: unknown, maxCharacters = 4_000): string {
  let budget = 400;
  const prune = (item: unknown, depth: number): JsonValue => {
    budget -= 1;
    if (typeof item === "string") return clip(item, 200);
    if (typeof item === "number" || typeof item === "boolean" || item === null) return item;
    if (typeof item !== "object") return null;
    if (depth >= 6 || budget <= 0) return "…";
    if (Array.isArray(item)) {
      const shown = item.slice(0, 10).map((member) => prune(member, depth + 1));
      return item.length > 10 ? [...shown, `… ${item.length - 10} more`] : shown;
    }
    const names = Object.keys(item);
    const shown: [string, JsonValue][] = names
      .slice(0, 20)
      .map((name) => [clip(name, 100), prune((item as Record<string, unknown>)[name], depth + 1)]);
    if (names.length > 20) shown.push(["…", `${names.length - 20} more`]);
    return Object.fromEntries(shown);
  };
  return clip(JSON.stringify(prune(value, 0)), maxCharacters);
}

const META_LIMITS: JsonLimits = { maxDepth: 8, maxValues: 500, maxCharacters: 16_384 };

/** `_meta` of a result or block, cleaned; `undefined` where it is no object or exceeds 16 KiB, 500 values or a depth of 8. */
export function cleanMeta(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const measure = measureJson(value, META_LIMITS);
  if (measure.excess !== null) return undefined;
  return (measure.holdsHidden ? atOnce(cleanedJson(value as JsonObject)) : value) as JsonObject;
}

/** The members of `annotations` that have a meaning and the right type. */
export function cleanAnnotations(value: unknown): JsonObject | undefined {
  const annotations = cleanMeta(value);
  if (annotations === undefined) return undefined;
  const kept: JsonObject = {};
  const { audience, priority, lastModified } = annotations;
  if (Array.isArray(audience))
    kept["audience"] = audience.filter((role) => role === "user" || role === "assistant");
  if (typeof priority === "number" && priority >= 0 && priority <= 1) kept["priority"] = priority;
  if (typeof lastModified === "string" && lastModified.length <= 64) kept["lastModified"] = lastModified;
  return Object.keys(kept).length > 0 ? kept : undefined;
}
