/** Keywords that apply schemas in place (JSON Schema core, 10.2), and what they tell `unevaluated…` about what they saw. */
import {
  createEvaluated,
  isEnoughSaid,
  isObject,
  mergeEvaluated,
  report,
  spend,
  type Check,
  type Collector,
  type Evaluated,
  type Run,
} from "./check.ts";
import { isCopiedObject, type CopiedObject } from "./bounds.ts";
import type { Subcheck } from "./arrays.ts";
import type { DialectRules } from "./dialect.ts";
import { hasMember } from "./objects.ts";
import { pathOf, type Issue } from "./issues.ts";

/** Runs `check` on the same value with what it saw kept apart, so that a failure leaves nothing behind. */
function attempt(check: Check, value: unknown, run: Run, evaluated: Evaluated | null): boolean {
  if (evaluated === null) return check(value, run, null);
  const own = createEvaluated();
  if (!check(value, run, own)) return false;
  mergeEvaluated(evaluated, own);
  return true;
}

/** Runs `work` without collecting issues. */
function quietly(run: Run, work: () => boolean): boolean {
  const collector = run.collector;
  run.collector = null;
  const result = work();
  run.collector = collector;
  return result;
}

function subchecks(schemas: unknown, subcheck: Subcheck): readonly Check[] {
  return Array.isArray(schemas) ? schemas.map(subcheck) : [];
}

export function checkAllOf(node: CopiedObject, subcheck: Subcheck): Check | undefined {
  if (node["allOf"] === undefined) return undefined;
  const branches = subchecks(node["allOf"], subcheck);
  return (value, run, evaluated) => {
    let isValid = true;
    for (const branch of branches) {
      if (branch(value, run, evaluated)) continue;
      isValid = false;
      if (run.collector === null) return false;
    }
    return isValid;
  };
}

export function checkAnyOf(node: CopiedObject, subcheck: Subcheck): Check | undefined {
  if (node["anyOf"] === undefined) return undefined;
  const branches = subchecks(node["anyOf"], subcheck);
  return (value, run, evaluated) => {
    const fits = quietly(run, () => {
      let isValid = false;
      for (const branch of branches) {
        if (!attempt(branch, value, run, evaluated)) continue;
        isValid = true;
        if (evaluated === null) break;
      }
      return isValid;
    });
    return fits || reportNearest(branches, value, run, "anyOf");
  };
}

export function checkOneOf(node: CopiedObject, subcheck: Subcheck): Check | undefined {
  if (node["oneOf"] === undefined) return undefined;
  const branches = subchecks(node["oneOf"], subcheck);
  return (value, run, evaluated) => {
    let fitting = 0;
    quietly(run, () => {
      for (const branch of branches) {
        if (attempt(branch, value, run, evaluated)) fitting += 1;
        if (fitting > 1) break;
      }
      return fitting === 1;
    });
    if (fitting === 1) return true;
    if (fitting === 0) return reportNearest(branches, value, run, "oneOf");
    return report(run, "oneOf", "fits more than one of the alternatives", "a value that fits exactly one");
  };
}

export function checkNot(node: CopiedObject, subcheck: Subcheck): Check | undefined {
  if (node["not"] === undefined) return undefined;
  const check = subcheck(node["not"]);
  return (value, run) =>
    !quietly(run, () => check(value, run, null)) ||
    report(run, "not", "fits what is excluded", "another value");
}

export function checkConditional(
  node: CopiedObject,
  rules: DialectRules,
  subcheck: Subcheck,
): Check | undefined {
  if (!rules.hasConditional || node["if"] === undefined) return undefined;
  const condition = subcheck(node["if"]);
  const consequence = node["then"] === undefined ? undefined : subcheck(node["then"]);
  const alternative = node["else"] === undefined ? undefined : subcheck(node["else"]);
  return (value, run, evaluated) => {
    const branch = quietly(run, () => attempt(condition, value, run, evaluated)) ? consequence : alternative;
    return branch === undefined || branch(value, run, evaluated);
  };
}

/** `dependentSchemas`, and `dependencies` that are schemas. */
export function checkDependentSchemas(dependencies: ReadonlyMap<string, Check>): Check | undefined {
  if (dependencies.size === 0) return undefined;
  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const [name, check] of dependencies) {
      spend(run, 1);
      if (!hasMember(value, name) || check(value, run, evaluated)) continue;
      isValid = false;
      if (run.collector === null) return false;
    }
    return isValid;
  };
}

/** Beside everything else: what nobody has looked at must fit `unevaluatedProperties` and `unevaluatedItems`. */
export function checkUnevaluated(node: CopiedObject, subcheck: Subcheck): Check | undefined {
  const forProperties = node["unevaluatedProperties"];
  const forItems = node["unevaluatedItems"];
  const property = forProperties === undefined ? undefined : subcheck(forProperties);
  const item = forItems === undefined ? undefined : subcheck(forItems);
  if (property === undefined && item === undefined) return undefined;

  const checkRest = (value: unknown, run: Run, evaluated: Evaluated): boolean => {
    let isValid = true;
    if (property !== undefined && isObject(value) && evaluated.properties !== "all") {
      const names = Object.keys(value);
      spend(run, names.length);
      for (const name of names) {
        if (evaluated.properties.has(name) || value[name] === undefined) continue;
        isValid = checkMember(property, forProperties === false, value[name], run, name) && isValid;
        if (!isValid && run.collector === null) return false;
      }
      evaluated.properties = "all";
    }
    if (item !== undefined && Array.isArray(value)) {
      for (let at = evaluated.items; at < value.length; at += 1) {
        spend(run, 1);
        if (evaluated.scattered.has(at)) continue;
        isValid = checkMember(item, forItems === false, value[at], run, at) && isValid;
        if (!isValid && run.collector === null) return false;
      }
      evaluated.items = Number.POSITIVE_INFINITY;
    }
    return isValid;
  };
  return (value, run, evaluated) => evaluated === null || checkRest(value, run, evaluated);
}

function checkMember(
  check: Check,
  isClosed: boolean,
  value: unknown,
  run: Run,
  at: string | number,
): boolean {
  const keyword = typeof at === "number" ? "unevaluatedItems" : "unevaluatedProperties";
  if (isClosed) return report(run, keyword, "is not allowed here", "nothing", { at });
  run.collector?.path.push(at);
  const fits = check(value, run, null);
  run.collector?.path.pop();
  return fits;
}

/** Reads `dependencies` and its two successors into one map of names and one of checks. */
export function readDependencies(
  node: CopiedObject,
  rules: DialectRules,
  subcheck: Subcheck,
): { readonly names: ReadonlyMap<string, readonly string[]>; readonly schemas: ReadonlyMap<string, Check> } {
  const names = new Map<string, readonly string[]>();
  const schemas = new Map<string, Check>();
  const keywords = rules.isVocabularyBased
    ? ["dependentRequired", "dependentSchemas", "dependencies"]
    : ["dependencies"];
  for (const keyword of keywords) {
    const map = node[keyword];
    if (!isCopiedObject(map)) continue;
    for (const name of Object.keys(map)) {
      const dependency = map[name];
      if (Array.isArray(dependency)) names.set(name, [...(names.get(name) ?? []), ...dependency.map(String)]);
      else schemas.set(name, both(schemas.get(name), subcheck(dependency)));
    }
  }
  return { names, schemas };
}

function both(one: Check | undefined, other: Check): Check {
  if (one === undefined) return other;
  return (value, run, evaluated) => one(value, run, evaluated) && other(value, run, evaluated);
}

/** Alternatives are gone into for the nearest one no deeper than this. */
const MAX_LEVEL = 3;

/**
 * No alternative fits: says what is wrong with the one that is nearest, which is the one whose kind and constants fit and
 * that has the fewest issues; or, where all fail for the same reason at the same place, that reason once.
 */
function reportNearest(branches: readonly Check[], value: unknown, run: Run, keyword: string): false {
  const collector = run.collector;
  if (collector === null) return false;
  const count = branches.length;
  if (collector.level >= MAX_LEVEL) {
    return report(run, keyword, `fits none of the ${count} alternatives`, "a value that fits one");
  }
  spend(run, 20 + collector.path.length);
  const here = pathOf(collector.path);
  const outcomes = branches.slice(0, 50).map((branch) => collectOne(branch, value, run, collector));
  const first = outcomes[0]?.[0];
  const isSame = (issues: readonly Issue[]): boolean => {
    const [only] = issues;
    return issues.length === 1 && only?.path === here && only.keyword === first?.keyword;
  };
  if (
    first !== undefined &&
    (first.keyword === "type" || first.keyword === "const") &&
    outcomes.every(isSame)
  ) {
    const expected = [...new Set(outcomes.map((issues) => issues[0]?.expected))].slice(0, 8).join(" or ");
    return report(run, first.keyword, first.message, expected);
  }
  let nearest: readonly Issue[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const issues of outcomes) {
    const distance = issues.reduce((sum, issue) => sum + weight(issue, here), 0);
    if (distance < least) {
      least = distance;
      nearest = issues;
    }
  }
  report(
    run,
    keyword,
    `fits none of the ${count} alternatives`,
    "a value that fits one; of the nearest one see the next lines",
  );
  for (const issue of nearest.slice(0, 3)) collector.issues.push(issue);
  return false;
}

function weight(issue: Issue, here: string): number {
  if (issue.path === here && issue.keyword === "type") return 100;
  return issue.keyword === "const" || issue.keyword === "enum" ? 20 : 1;
}

function collectOne(check: Check, value: unknown, run: Run, outer: Collector): readonly Issue[] {
  const own: Collector = { issues: [], path: outer.path, level: outer.level + 1 };
  const { depth } = run;
  const steps = own.path.length;
  const resources = run.scope.length;
  run.collector = own;
  try {
    check(value, run, null);
  } catch (error) {
    if (!isEnoughSaid(error)) throw error;
    // It was left in the middle.
    run.depth = depth;
    own.path.length = steps;
    run.scope.length = resources;
  }
  run.collector = outer;
  return own.issues;
}
