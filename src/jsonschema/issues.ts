/** What does not fit, said shortly: to a model, which corrects its call, or to a person. Bounded in number and length. */
import { pointerStep } from "./uri.ts";

export interface Issue {
  /** JSON pointer into the value; `""` is the value itself. */
  readonly path: string;
  /** The keyword of the schema that says no. */
  readonly keyword: string;
  /** What is wrong, for example `is a number`. */
  readonly message: string;
  /** What would be right, for example `a string`. */
  readonly expected: string;
  /** The valid property or value that was probably meant. */
  readonly nearest?: string;
}

/** No more issues than these are told for one value. */
export const MAX_ISSUES = 20;
const MAX_QUOTED = 60;

/** Text of a stranger as a short quoted string: what is not plainly visible is escaped. */
export function quote(text: string): string {
  const cut =
    text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
  return JSON.stringify(cut).replace(
    /[^\x20-\x7E\p{L}\p{N}\p{M}\p{P}\p{S} ]|\p{Default_Ignorable_Code_Point}/gu,
    escapeCharacter,
  );
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Any value, shortly. */
export function show(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  return kindOf(value);
}

/** `a string`, `an array`, … */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  switch (typeof value) {
    case "string":
      return "a string";
    case "number":
      return Number.isInteger(value) ? "an integer" : "a number";
    case "boolean":
      return "a boolean";
    case "object":
      return "an object";
    default:
      return "not JSON";
  }
}

/** `"a", "b", "c" (3 in all, …)`: the first few of many. */
export function showList(items: readonly unknown[], limit = 8): string {
  const shown = items.slice(0, limit).map(show).join(", ");
  return items.length > limit ? `${shown}, … (${items.length} in all)` : shown;
}

export function pathOf(steps: readonly (string | number)[]): string {
  return steps.map(pointerStep).join("");
}

/**
 * The candidate that is nearest to `text`, where one is near enough to be a slip of the pen (a third of its length at most);
 * capitals, `_` and `-` do not count. Compares with no more than 300 candidates of about its length.
 */
export function nearestName(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length > 64) return undefined;
  const wanted = fold(text);
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let compared = 0;
  for (const candidate of candidates) {
    if (candidate.length > 64 || Math.abs(candidate.length - text.length) > least + 4) continue;
    compared += 1;
    if (compared > 300) break;
    const distance = editDistance(wanted, fold(candidate), least);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[_\-\s]/g, "");
}

/** Edits (insert, delete, replace, swap of neighbours) from one text to the other; `limit` for that many or more. */
export function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let older: number[] = [];
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one.charCodeAt(row - 1) === other.charCodeAt(column - 1);
      let cost = Math.min(
        (before[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (before[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 &&
        column > 1 &&
        one.charCodeAt(row - 1) === other.charCodeAt(column - 2) &&
        one.charCodeAt(row - 2) === other.charCodeAt(column - 1);
      if (isSwap) cost = Math.min(cost, (older[column - 2] ?? 0) + 1);
      current.push(cost);
      best = Math.min(best, cost);
    }
    if (best >= limit) return limit;
    older = before;
    before = current;
  }
  return Math.min(before[other.length] ?? limit, limit);
}
