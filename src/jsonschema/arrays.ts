/** Keywords about arrays (JSON Schema core 10.3.1, validation 6.4), in the form of each draft. */
import { descend, report, spend, type Check, type Run } from "./check.ts";
import type { CopiedObject } from "./bounds.ts";
import type { DialectRules } from "./dialect.ts";
import { equalityKey } from "./equality.ts";

/** Builds the check of a subschema. */
export type Subcheck = (schema: unknown) => Check;

function count(node: CopiedObject, keyword: string, otherwise: number): number {
  const value = node[keyword];
  return typeof value === "number" ? value : otherwise;
}

/** `minItems`, `maxItems`, `uniqueItems`. */
export function checkArraySize(node: CopiedObject): Check | undefined {
  const min = count(node, "minItems", 0);
  const max = count(node, "maxItems", Number.POSITIVE_INFINITY);
  const isUnique = node["uniqueItems"] === true;
  if (min === 0 && max === Number.POSITIVE_INFINITY && !isUnique) return undefined;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    let isValid = true;
    if (value.length < min)
      isValid = report(run, "minItems", `has ${value.length} items`, `at least ${min} items`);
    if (value.length > max)
      isValid = report(run, "maxItems", `has ${value.length} items`, `at most ${max} items`);
    if (!isUnique || (!isValid && run.collector === null)) return isValid;
    const twin = findTwin(value, run);
    if (twin === undefined) return isValid;
    return report(run, "uniqueItems", `items ${twin[0]} and ${twin[1]} are equal`, "items that all differ");
  };
}

/** The positions of the first item that was there before; linear. */
function findTwin(items: readonly unknown[], run: Run): readonly [number, number] | undefined {
  if (items.length < 2) return undefined;
  const seen = new Map<unknown, number>();
  for (const [at, item] of items.entries()) {
    // For its place in the map, which grows as it is filled.
    spend(run, 3);
    const key = equalityKey(item, run);
    const before = seen.get(key);
    if (before !== undefined) return [before, at];
    seen.set(key, at);
  }
  return undefined;
}

/** `prefixItems` and `items`, or `items` and `additionalItems` of older drafts. */
export function checkItems(node: CopiedObject, rules: DialectRules, subcheck: Subcheck): Check | undefined {
  const { items, prefixItems, additionalItems } = node;
  const hasTuple = Array.isArray(items);
  const prefix = (
    hasTuple ? items : Array.isArray(prefixItems) && !rules.hasTupleItems ? prefixItems : []
  ).map(subcheck);
  // A list read as `prefixItems` in 2020-12 has no schema for the rest there, but `false` is clear enough.
  const beyondTuple = rules.hasTupleItems || additionalItems === false ? additionalItems : undefined;
  const restSchema = hasTuple ? beyondTuple : items;
  const rest = restSchema === undefined ? undefined : subcheck(restSchema);
  if (prefix.length === 0 && rest === undefined) return undefined;
  const isClosed = restSchema === false;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const end = rest === undefined ? Math.min(prefix.length, value.length) : value.length;
    let isValid = true;
    for (let at = 0; at < end; at += 1) {
      spend(run, 1);
      const check = prefix[at] ?? rest;
      if (check === undefined || descend(check, value[at], run, at)) continue;
      isValid = false;
      if (run.collector === null) return false;
      if (isClosed && at >= prefix.length) {
        report(run, "items", `has ${value.length} items`, `at most ${prefix.length} items`);
        break;
      }
    }
    if (evaluated !== null)
      evaluated.items = Math.max(evaluated.items, rest === undefined ? end : Number.POSITIVE_INFINITY);
    return isValid;
  };
}

/** `contains` with `minContains` and `maxContains`. */
export function checkContains(
  node: CopiedObject,
  rules: DialectRules,
  subcheck: Subcheck,
): Check | undefined {
  if (node["contains"] === undefined) return undefined;
  const check = subcheck(node["contains"]);
  const min = rules.isVocabularyBased ? count(node, "minContains", 1) : 1;
  const max = rules.isVocabularyBased
    ? count(node, "maxContains", Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    // What does not fit is no issue here: only the number of fitting items is.
    const collector = run.collector;
    run.collector = null;
    let fitting = 0;
    for (const [at, item] of value.entries()) {
      spend(run, 1);
      if (!check(item, run, null)) continue;
      fitting += 1;
      // Only 2020-12 lets `contains` count for `unevaluatedItems`.
      if (evaluated !== null && rules.hasDynamicRef) evaluated.scattered.add(at);
      if (evaluated === null && fitting >= min && max === Number.POSITIVE_INFINITY) break;
    }
    run.collector = collector;
    if (fitting < min)
      return report(run, "contains", `${fitting} items fit \`contains\``, `at least ${min} of them`);
    if (fitting > max)
      return report(run, "maxContains", `${fitting} items fit \`contains\``, `at most ${max} of them`);
    return true;
  };
}
