/**
 * A schema document as closures. Every schema object becomes one `Check`, made when it is first needed and used wherever it is
 * referred to, so that building is linear and recursion costs nothing.
 */
import { checkArraySize, checkContains, checkItems } from "./arrays.ts";
import { isCopiedObject, type Copied, type CopiedObject } from "./bounds.ts";
import {
  always,
  createEvaluated,
  enter,
  mergeEvaluated,
  report,
  spend,
  type Check,
  type Run,
} from "./check.ts";
import {
  checkAllOf,
  checkAnyOf,
  checkConditional,
  checkDependentSchemas,
  checkNot,
  checkOneOf,
  checkUnevaluated,
  readDependencies,
} from "./combine.ts";
import type { DialectRules } from "./dialect.ts";
import type { Place, SchemaDocument, Target } from "./document.ts";
import { checkDependentNames, checkMembers, checkPresence } from "./objects.ts";
import type { TestText } from "./patterns.ts";
import { checkConst, checkEnum, checkNumber, checkString, checkType } from "./scalars.ts";

export interface BuildOptions {
  readonly assertsFormats: boolean;
  /** The test of a pattern; `undefined` for one that is not enforced. */
  readonly testOf: (pattern: string) => TestText | undefined;
}

const ABOUT_VALUE: ReadonlySet<string> = new Set([
  "type",
  "const",
  "enum",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "required",
  "minProperties",
  "maxProperties",
  "minItems",
  "maxItems",
  "uniqueItems",
]);

const WITH_SCHEMAS: ReadonlySet<string> = new Set([
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "items",
  "prefixItems",
  "contains",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

const never: Check = (_value, run) => report(run, "false", "is not allowed here", "nothing");

/** @returns the check of the whole schema. */
export function buildCheck(document: SchemaDocument, options: BuildOptions): Check {
  const made = new Map<CopiedObject, Check>();

  const subcheck = (schema: unknown): Check => {
    if (schema === false) return never;
    if (!isCopiedObject(schema as Copied)) return always;
    const node = schema as CopiedObject;
    const known = made.get(node);
    if (known !== undefined) return known;
    const place = document.places.get(node);
    if (place === undefined) return never;
    const check = buildNode(node, place);
    made.set(node, check);
    return check;
  };

  /** Made when it is first run: references may lead in circles. */
  const later = (schema: Copied): Check => {
    let check: Check | undefined;
    return (value, run, evaluated) => {
      check ??= subcheck(schema);
      return check(value, run, evaluated);
    };
  };

  const followed = (target: Target): Check => {
    const check = later(target.schema);
    if (!document.hasManyResources) return check;
    return inScope(target.resource, check);
  };

  const inScope =
    (resource: Place["resource"], check: Check): Check =>
    (value, run, evaluated) => {
      if (run.scope.at(-1) === resource) return check(value, run, evaluated);
      run.scope.push(resource);
      const isValid = check(value, run, evaluated);
      run.scope.pop();
      return isValid;
    };

  /** The outermost resource on the way here that has the anchor wins (core 8.2.3.2; 2019-09 8.2.4.2). */
  const followedDynamically = (
    target: Target,
    find: (resource: Place["resource"]) => Copied | undefined,
  ): Check => {
    const otherwise = followed(target);
    const known = new Map<Copied, Check>();
    return (value, run, evaluated) => {
      for (const resource of run.scope) {
        spend(run, 1);
        const schema = find(resource);
        if (schema === undefined) continue;
        const check = known.get(schema) ?? followed({ schema, resource, dynamicAnchor: undefined });
        known.set(schema, check);
        return check(value, run, evaluated);
      }
      return otherwise(value, run, evaluated);
    };
  };

  const references = (node: CopiedObject): readonly Check[] => {
    const checks: Check[] = [];
    for (const [keyword, target] of document.targets.get(node) ?? []) {
      const name = target.dynamicAnchor;
      if (keyword === "$dynamicRef" && name !== undefined && document.hasManyResources) {
        checks.push(followedDynamically(target, (resource) => resource.dynamicAnchors.get(name)));
      } else if (
        keyword === "$recursiveRef" &&
        target.resource.isRecursiveAnchor &&
        document.hasManyResources
      ) {
        checks.push(
          followedDynamically(target, (resource) => (resource.isRecursiveAnchor ? resource.root : undefined)),
        );
      } else {
        checks.push(followed(target));
      }
    }
    return checks;
  };

  const valueChecks = (node: CopiedObject, rules: DialectRules): readonly Check[] => {
    const pattern = typeof node["pattern"] === "string" ? options.testOf(node["pattern"]) : undefined;
    return [
      node["type"] === undefined ? undefined : checkType(node["type"]),
      node["const"] === undefined || !rules.hasBooleanSchemas ? undefined : checkConst(node["const"]),
      Array.isArray(node["enum"]) ? checkEnum(node["enum"]) : undefined,
      checkNumber(node, rules),
      checkString(node, { pattern, assertsFormat: options.assertsFormats }),
      checkPresence(node),
      checkArraySize(node),
    ].filter((check) => check !== undefined);
  };

  const buildNode = (node: CopiedObject, place: Place): Check => {
    const { rules } = place.resource;
    if (rules.refHidesSiblings && typeof node["$ref"] === "string")
      return guarded(references(node), undefined);
    const keywords = Object.keys(node);
    const checks = keywords.some((keyword) => ABOUT_VALUE.has(keyword)) ? valueChecks(node, rules) : [];
    if (!keywords.some((keyword) => WITH_SCHEMAS.has(keyword))) return flat(checks);
    const dependencies = readDependencies(node, rules, subcheck);
    const nested = [
      checkDependentNames(dependencies.names),
      checkMembers(node, subcheck, options.testOf, rules),
      checkItems(node, rules, subcheck),
      rules.hasBooleanSchemas ? checkContains(node, rules, subcheck) : undefined,
      ...references(node),
      checkAllOf(node, subcheck),
      checkAnyOf(node, subcheck),
      checkOneOf(node, subcheck),
      checkNot(node, subcheck),
      checkConditional(node, rules, subcheck),
      checkDependentSchemas(dependencies.schemas),
    ].filter((check) => check !== undefined);
    const unevaluated = rules.isVocabularyBased ? checkUnevaluated(node, subcheck) : undefined;
    const isOpening = document.hasManyResources && place.resource.root === node;
    if (nested.length === 0 && unevaluated === undefined) return flat(checks);
    const check = guarded([...checks, ...nested], unevaluated);
    return isOpening ? inScope(place.resource, check) : check;
  };

  return subcheck(document.root);
}

/** Checks without subschemas. */
function flat(checks: readonly Check[]): Check {
  const [first, second] = checks;
  if (first === undefined) return always;
  if (second === undefined) {
    return (value, run) => {
      spend(run, 1);
      return first(value, run, null);
    };
  }
  return (value, run) => {
    spend(run, 1);
    return runAll(checks, value, run, null);
  };
}

function runAll(
  checks: readonly Check[],
  value: unknown,
  run: Run,
  evaluated: Parameters<Check>[2],
): boolean {
  let isValid = true;
  for (const check of checks) {
    if (check(value, run, evaluated)) continue;
    if (run.collector === null) return false;
    isValid = false;
  }
  return isValid;
}

/** Checks with subschemas: they pay, and count as one level. */
function guarded(checks: readonly Check[], unevaluated: Check | undefined): Check {
  if (unevaluated === undefined) {
    return (value, run, evaluated) => {
      spend(run, 1);
      enter(run);
      const isValid = runAll(checks, value, run, evaluated);
      run.depth -= 1;
      return isValid;
    };
  }
  return (value, run, outer) => {
    spend(run, 2);
    enter(run);
    const evaluated = createEvaluated();
    // Where something else is wrong already, what is left over would only be confusing.
    const isValid = runAll(checks, value, run, evaluated) && unevaluated(value, run, evaluated);
    if (outer !== null) mergeEvaluated(outer, evaluated);
    run.depth -= 1;
    return isValid;
  };
}
