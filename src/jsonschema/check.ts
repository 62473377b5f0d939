/**
 * How a compiled schema runs over a value. A `Check` is a closure; a `Run` is what one validation carries along: the steps
 * that are left, the depth, and, only when issues are asked for, the path and the list of them.
 *
 * Invariants: without a collector a check stops at the first `false`; with one it goes on and says why, until it has said
 * enough. Every step is paid before it is taken, so a run ends after its steps whatever the schema and the value are.
 */
import { CELLS_PER_STEP, MAX_ISSUES, nearestName, pathOf, type Issue } from "./issues.ts";
import type { Resource } from "./document.ts";

/** What keywords beside or below have already evaluated; kept only where `unevaluated…` needs it. */
export interface Evaluated {
  properties: Set<string> | "all";
  /** The first so many items; `Infinity` for all. */
  items: number;
  /** Items beyond those, by `contains`. */
  readonly scattered: Set<number>;
}

export interface Collector {
  issues: Issue[];
  /** Alternatives inside alternatives that are being looked at for the nearest one. */
  readonly level: number;
  /** Steps from the root of the value to here. */
  readonly path: (string | number)[];
}

export interface Run {
  steps: number;
  depth: number;
  collector: Collector | null;
  /** Resources entered, outermost first: what `$dynamicRef` and `$recursiveRef` look through. */
  readonly scope: Resource[];
}

/** @returns whether `value` fits; adds to `evaluated` what it has looked at, where given. */
export type Check = (value: unknown, run: Run, evaluated: Evaluated | null) => boolean;

/** Checks nested in each other at one time: a value and a schema that call each other for ever end here. */
const MAX_RUN_DEPTH = 600;

const outOfSteps = new Error("the steps of a validation are used up");

/** Pays for work; ends the validation where it cannot be paid. */
export function spend(run: Run, steps: number): void {
  run.steps -= steps;
  if (run.steps < 0) throw outOfSteps;
}

/** True for what `spend` throws, and for the stack's own end. */
export function isOutOfSteps(error: unknown): boolean {
  return error === outOfSteps || error instanceof RangeError;
}

const enoughSaid = new Error("no more issues are told than these");

/** True for what `report` throws. */
export function isEnoughSaid(error: unknown): boolean {
  return error === enoughSaid;
}

/** @throws what `spend` throws: too deep is too much as well. */
export function enter(run: Run): void {
  run.depth += 1;
  if (run.depth > MAX_RUN_DEPTH) throw outOfSteps;
}

/**
 * Notes an issue where issues are asked for. Always `false`, so that a check can return it.
 *
 * @throws `isEnoughSaid` where there are `MAX_ISSUES` already: what else is wrong would be looked for in vain.
 */
export function report(
  run: Run,
  keyword: string,
  message: string,
  expected: string,
  more: { readonly at?: string | number; readonly nearest?: string | undefined } = {},
): false {
  const collector = run.collector;
  if (collector === null) return false;
  if (collector.issues.length >= MAX_ISSUES) throw enoughSaid;
  // Saying why is dearer than finding out.
  spend(run, 20 + collector.path.length);
  const path = pathOf(more.at === undefined ? collector.path : [...collector.path, more.at]);
  collector.issues.push({
    path,
    keyword,
    message,
    expected,
    ...(more.nearest === undefined ? {} : { nearest: more.nearest }),
  });
  return false;
}

/** The one of `names` that `text` was probably meant to be. Pays by what it compares, an eighth of the steps that are left at most. */
export function suggest(run: Run, text: string, names: readonly string[]): string | undefined {
  const allowance = { cells: (run.steps / 8) * CELLS_PER_STEP };
  const before = allowance.cells;
  const nearest = nearestName(text, names, allowance);
  spend(run, (before - allowance.cells) / CELLS_PER_STEP);
  return nearest;
}

/** Runs `check` on a member or item, one step further down the path. */
export function descend(check: Check, value: unknown, run: Run, at: string | number): boolean {
  const collector = run.collector;
  if (collector === null) return check(value, run, null);
  collector.path.push(at);
  const isValid = check(value, run, null);
  collector.path.pop();
  return isValid;
}

export function createEvaluated(): Evaluated {
  return { properties: new Set(), items: 0, scattered: new Set() };
}

/** Adds what `from` has seen to `into`. */
export function mergeEvaluated(into: Evaluated, from: Evaluated): void {
  if (from.properties === "all") into.properties = "all";
  else if (into.properties !== "all") for (const name of from.properties) into.properties.add(name);
  into.items = Math.max(into.items, from.items);
  for (const at of from.scattered) into.scattered.add(at);
}

export const always: Check = () => true;

/** Whether `value` can have members: an object, not null, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
