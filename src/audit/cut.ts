/**
 * Cuts a JSON value to a size and keeps its shape: long texts, long lists and deep branches end in a mark. The work is
 * bounded by the size kept, not by the size given. Most values fit, and are given back as they are.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

export interface CutValue {
  readonly value: JsonValue;
  readonly isCut: boolean;
}

const MAX_DEPTH = 32;
const MARK = "…";
/** What a member or an item costs beside its content. */
const OVERHEAD = 4;

/** @param maxCharacters about so many characters of JSON are kept. */
export function cutJson(value: JsonValue, maxCharacters: number): CutValue {
  return roomAfter(value, maxCharacters, 0) >= 0 ? { value, isCut: false } : copyCut(value, maxCharacters);
}

/** What is left of `room` behind `value`; negative where it must be cut, or copied because it is not in canonical order. */
function roomAfter(value: JsonValue, room: number, depth: number): number {
  if (typeof value === "string") return room - value.length - OVERHEAD;
  let left = room - OVERHEAD;
  if (typeof value !== "object" || value === null) return left;
  if (depth >= MAX_DEPTH) return -1;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) break;
      left = roomAfter(item, left, depth + 1);
    }
    return left;
  }
  let before: string | undefined;
  for (const name of Object.keys(value)) {
    const member: JsonValue | undefined = value[name];
    if (left < 0 || member === undefined || (before !== undefined && name < before)) return -1;
    before = name;
    left = roomAfter(member, left - name.length - OVERHEAD, depth + 1);
  }
  return left;
}

function copyCut(value: JsonValue, maxCharacters: number): CutValue {
  let left = maxCharacters;
  let isCut = false;

  const cutText = (text: string): string => {
    const kept = Math.max(left, 0);
    left -= text.length + OVERHEAD;
    if (text.length <= kept) return text;
    isCut = true;
    return `${text.slice(0, kept)}${MARK}`;
  };

  const cutList = (list: readonly JsonValue[], depth: number): JsonValue[] => {
    const kept: JsonValue[] = [];
    for (const item of list) {
      if (left <= 0) {
        isCut = true;
        kept.push(`${MARK} (${list.length - kept.length} more)`);
        break;
      }
      kept.push(cut(item, depth + 1));
    }
    return kept;
  };

  const cutObject = (object: JsonObject, depth: number): JsonObject => {
    const kept: [string, JsonValue][] = [];
    // In the order of canonical JSON, which is then quickly made.
    for (const name of Object.keys(object).sort()) {
      const member: JsonValue | undefined = object[name];
      if (member === undefined) continue;
      if (left <= 0) {
        isCut = true;
        kept.push([MARK, "more"]);
        break;
      }
      kept.push([cutText(name), cut(member, depth + 1)]);
    }
    // Not by assignment: `__proto__` is a name like any other.
    return Object.fromEntries(kept);
  };

  const cut = (item: JsonValue, depth: number): JsonValue => {
    if (typeof item === "string") return cutText(item);
    left -= OVERHEAD;
    if (typeof item !== "object" || item === null) return item;
    if (depth >= MAX_DEPTH) {
      isCut = true;
      return MARK;
    }
    return isJsonObject(item) ? cutObject(item, depth) : cutList(item, depth);
  };

  return { value: cut(value, 0), isCut };
}
