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

/** Letters compared with letters: what `editDistance` does for the price of one step of a validation, measured. */
export const CELLS_PER_STEP = 32;

/** Work that comparing may still do, in letters of one text times letters of the other; written to. */
export interface Allowance {
  cells: number;
}

/**
 * The candidate that is nearest to `text`, where one is near enough to be a slip of the pen (a third of its length at most);
 * capitals, `_` and `-` do not count. Compares with candidates of about its length as long as `allowance` lasts.
 */
export function nearestName(
  text: string,
  candidates: Iterable<string>,
  allowance: Allowance,
): string | undefined {
  if (text.length > 64) return undefined;
  const wanted = fold(text);
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    allowance.cells -= 1;
    if (candidate.length > 64 || Math.abs(candidate.length - text.length) > least + 4) continue;
    // Folding costs about as much as a row of letters.
    allowance.cells -= (text.length + 8) * (candidate.length + 8);
    if (allowance.cells < 0) break;
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

/** Three rows of the table of distances, used in turn: making them anew would cost more than filling them. */
let rows = [new Uint16Array(128), new Uint16Array(128), new Uint16Array(128)] as const;

/** Edits (insert, delete, replace, swap of neighbours) from one text to the other; `limit` for that many or more. */
export function editDistance(one: string, other: string, limit: number): number {
  const width = other.length;
  if (Math.abs(one.length - width) >= limit) return limit;
  if (width >= rows[0].length)
    rows = [new Uint16Array(width * 2), new Uint16Array(width * 2), new Uint16Array(width * 2)];
  let [older, before, current] = rows;
  for (let column = 0; column <= width; column += 1) before[column] = column;
  for (let row = 1; row <= one.length; row += 1) {
    const letter = one.charCodeAt(row - 1);
    const previous = row > 1 ? one.charCodeAt(row - 2) : -1;
    current[0] = row;
    let left = row;
    let best = row;
    for (let column = 1; column <= width; column += 1) {
      const otherLetter = other.charCodeAt(column - 1);
      let cost = (before[column - 1] ?? 0) + (letter === otherLetter ? 0 : 1);
      const above = (before[column] ?? 0) + 1;
      if (above < cost) cost = above;
      if (left + 1 < cost) cost = left + 1;
      if (column > 1 && previous === otherLetter && letter === other.charCodeAt(column - 2)) {
        const swapped = (older[column - 2] ?? 0) + 1;
        if (swapped < cost) cost = swapped;
      }
      current[column] = cost;
      left = cost;
      if (cost < best) best = cost;
    }
    if (best >= limit) return limit;
    [older, before, current] = [before, current, older];
  }
  return Math.min(before[width] ?? limit, limit);
}
