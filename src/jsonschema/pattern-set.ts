/** All patterns of one schema: which run, which are left out with a note, and whether leaving them out is safe. */
import { isCopiedObject, type CopiedObject } from "./bounds.ts";
import type { SchemaDocument, SchemaNote, SchemaRefusal } from "./document.ts";
import { appliedInPlace } from "./expansion.ts";
import { quote } from "./issues.ts";
import { planPattern, type PatternPlan, type TestText } from "./patterns.ts";
import { pointerStep } from "./uri.ts";

/** Instructions that all patterns of a schema may need together: bounds the time that building takes. */
const MAX_TOTAL_SIZE = 4_000;
/** Unicode properties that all patterns of a schema may name together: every engine needs up to 0.2 ms to read one of them. */
const MAX_TOTAL_PROPERTIES = 60;

export type PatternsResult =
  | {
      readonly ok: true;
      readonly notes: readonly SchemaNote[];
      /** Instructions of all patterns together, as `programSize` counts them. */
      readonly size: number;
      /** Builds the engines, each pattern once. */
      readonly testOf: () => (pattern: string) => TestText | undefined;
    }
  | { readonly ok: false; readonly refusal: SchemaRefusal };

/** Judges every `pattern` and every key of `patternProperties`. Compiles nothing yet. */
export function planPatterns(document: SchemaDocument, unsupported: "note" | "refuse"): PatternsResult {
  const plans = new Map<string, PatternPlan>();
  const notes: SchemaNote[] = [];
  const loosened: CopiedObject[] = [];
  let size = 0;
  let properties = 0;
  for (const [node, place] of document.places) {
    for (const { pattern, pointer } of patternsOf(node, place.pointer)) {
      const known = plans.get(pattern);
      // Counted in the text: reading the pattern is what costs.
      if (known === undefined) properties += pattern.match(/\\[pP]\{/g)?.length ?? 0;
      if (properties > MAX_TOTAL_PROPERTIES)
        return tooComplex("its patterns name too many Unicode properties", pointer);
      const plan = known ?? planPattern(pattern);
      plans.set(pattern, plan);
      if (plan.ok) {
        size += known === undefined ? plan.size : 0;
        continue;
      }
      const message = `the pattern ${quote(pattern)} ${plan.reason}: it is not enforced here`;
      if (unsupported === "refuse")
        return { ok: false, refusal: { code: "unsupported_pattern", reason: message, pointer } };
      notes.push({ code: "pattern_not_enforced", message, pointer });
      loosened.push(node);
    }
    if (size > MAX_TOTAL_SIZE) return tooComplex("its patterns are too large together", place.pointer);
  }
  const trap = loosened.length === 0 ? undefined : findReversal(document, new Set(loosened));
  if (trap !== undefined) {
    const reason = "a pattern that cannot be enforced stands where leaving it out would refuse right values";
    return {
      ok: false,
      refusal: { code: "unsupported_pattern", reason, pointer: document.places.get(trap)?.pointer ?? "" },
    };
  }
  return { ok: true, notes, size, testOf: () => buildTests(plans) };
}

function tooComplex(reason: string, pointer: string): PatternsResult {
  return { ok: false, refusal: { code: "too_complex", reason, pointer } };
}

function buildTests(plans: ReadonlyMap<string, PatternPlan>): (pattern: string) => TestText | undefined {
  const tests = new Map<string, TestText>();
  return (pattern) => {
    const plan = plans.get(pattern);
    if (plan?.ok !== true) return undefined;
    const test = tests.get(pattern) ?? plan.build();
    tests.set(pattern, test);
    return test;
  };
}

function patternsOf(
  node: CopiedObject,
  pointer: string,
): readonly { readonly pattern: string; readonly pointer: string }[] {
  const found: { pattern: string; pointer: string }[] = [];
  const { pattern, patternProperties } = node;
  if (typeof pattern === "string") found.push({ pattern, pointer: `${pointer}/pattern` });
  if (isCopiedObject(patternProperties)) {
    for (const name of Object.keys(patternProperties)) {
      found.push({ pattern: name, pointer: `${pointer}/patternProperties${pointerStep(name)}` });
    }
  }
  return found;
}

/** Keywords under which fitting less strictly can make the whole fit more strictly. */
const REVERSING = ["not", "if", "oneOf", "contains"] as const;

/** A loosened schema that can be reached through a reversing keyword. */
function findReversal(
  document: SchemaDocument,
  loosened: ReadonlySet<CopiedObject>,
): CopiedObject | undefined {
  const reached = new Set<CopiedObject>();
  const waiting: CopiedObject[] = [];
  const add = (value: unknown): void => {
    for (const schema of Array.isArray(value) ? value : [value]) {
      if (isCopiedObject(schema) && !reached.has(schema)) {
        reached.add(schema);
        waiting.push(schema);
      }
    }
  };
  for (const node of document.places.keys()) for (const keyword of REVERSING) add(node[keyword]);
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (loosened.has(node)) return node;
    for (const schema of appliedInPlace(node, document)) add(schema);
    for (const keyword of Object.keys(node)) {
      const value = node[keyword];
      add(value);
      if (isCopiedObject(value)) for (const name of Object.keys(value)) add(value[name]);
    }
  }
  return undefined;
}
