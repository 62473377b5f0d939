/** Keywords about objects (JSON Schema core 10.3.2, validation 6.5). Own members only; one pass over them. */
import { descend, isObject, report, spend, suggest, type Check, type Run } from "./check.ts";
import { isCopiedObject, type CopiedObject } from "./bounds.ts";
import type { Subcheck } from "./arrays.ts";
import type { DialectRules } from "./dialect.ts";
import { quote, showList } from "./issues.ts";
import type { TestText } from "./patterns.ts";

/** A member counts only where it is the object's own and not `undefined`, which JSON cannot say. */
export function hasMember(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Looking up a member of an object with more than these costs several times as much. */
const MANY_NAMES = 1_000;

/** @param testOf the test of a pattern; `undefined` for one that is not enforced: it may match any name. */
export function checkMembers(
  node: CopiedObject,
  subcheck: Subcheck,
  testOf: (pattern: string) => TestText | undefined,
  rules: DialectRules,
): Check | undefined {
  const { properties, patternProperties, additionalProperties } = node;
  const propertyNames = rules.hasBooleanSchemas ? node["propertyNames"] : undefined;
  if (
    properties === undefined &&
    patternProperties === undefined &&
    additionalProperties === undefined &&
    propertyNames === undefined
  ) {
    return undefined;
  }
  const named = new Map<string, Check>();
  if (isCopiedObject(properties))
    for (const name of Object.keys(properties)) named.set(name, subcheck(properties[name]));
  const patterned: { readonly matches: TestText; readonly check: Check }[] = [];
  let hasUnenforced = false;
  if (isCopiedObject(patternProperties)) {
    for (const pattern of Object.keys(patternProperties)) {
      const matches = testOf(pattern);
      if (matches === undefined) hasUnenforced = true;
      else patterned.push({ matches, check: subcheck(patternProperties[pattern]) });
    }
  }
  const isClosed = additionalProperties === false && !hasUnenforced;
  const additional =
    additionalProperties === undefined || hasUnenforced ? undefined : subcheck(additionalProperties);
  const nameCheck = propertyNames === undefined ? undefined : subcheck(propertyNames);

  return (value, run, evaluated) => {
    if (!isObject(value)) return true;
    const names = Object.keys(value);
    const perName = names.length > MANY_NAMES ? 4 : 1;
    spend(run, (evaluated === null ? perName : perName + 1) * names.length);
    let isValid = true;
    for (const name of names) {
      const member = value[name];
      if (member === undefined) continue;
      let isKnown = hasUnenforced;
      let fits = true;
      const own = named.get(name);
      if (own !== undefined) {
        isKnown = true;
        fits = descend(own, member, run, name);
      }
      for (const { matches, check } of patterned) {
        if (!matches(name, run)) continue;
        isKnown = true;
        fits = descend(check, member, run, name) && fits;
      }
      if (!isKnown && isClosed) fits = reportUnknown(run, name, named, "additionalProperties");
      else if (!isKnown && additional !== undefined) fits = descend(additional, member, run, name);
      if (nameCheck !== undefined) fits = checkName(nameCheck, name, run) && fits;
      if (evaluated !== null && evaluated.properties !== "all" && (isKnown || additional !== undefined)) {
        evaluated.properties.add(name);
      }
      if (fits) continue;
      isValid = false;
      if (run.collector === null) return false;
    }
    return isValid;
  };
}

/** Says that `name` is unknown, and which known one is near. Always `false`. */
function reportUnknown(run: Run, name: string, known: ReadonlyMap<string, unknown>, keyword: string): false {
  if (run.collector === null) return false;
  spend(run, known.size / 4);
  const names = [...known.keys()];
  const expected = names.length === 0 ? "no properties at all" : `one of ${showList(names)}`;
  return report(run, keyword, `unknown property ${quote(name)}`, expected, {
    at: name,
    nearest: suggest(run, name, names),
  });
}

function checkName(check: Check, name: string, run: Run): boolean {
  const collector = run.collector;
  run.collector = null;
  const fits = check(name, run, null);
  run.collector = collector;
  return (
    fits ||
    report(run, "propertyNames", `the name ${quote(name)} is not allowed`, "another name", { at: name })
  );
}

/** `required`, `minProperties`, `maxProperties`. */
export function checkPresence(node: CopiedObject): Check | undefined {
  const { required, minProperties, maxProperties, properties } = node;
  const names = Array.isArray(required) ? required.map(String) : [];
  const min = typeof minProperties === "number" ? minProperties : 0;
  const max = typeof maxProperties === "number" ? maxProperties : Number.POSITIVE_INFINITY;
  const isCounted = min > 0 || max !== Number.POSITIVE_INFINITY;
  if (names.length === 0 && !isCounted) return undefined;
  return (value, run) => {
    if (!isObject(value)) return true;
    let isValid = true;
    spend(run, names.length / 2);
    for (const name of names) {
      if (hasMember(value, name)) continue;
      if (run.collector === null) return false;
      const schema = isCopiedObject(properties) ? properties[name] : undefined;
      isValid = report(run, "required", `${quote(name)} is missing`, describe(schema), { at: name });
    }
    if (!isCounted) return isValid;
    const members = Object.keys(value);
    spend(run, members.length / 2);
    const size = members.reduce((sum, name) => (value[name] === undefined ? sum : sum + 1), 0);
    if (size < min)
      isValid = report(run, "minProperties", `has ${size} properties`, `at least ${min} properties`);
    if (size > max)
      isValid = report(run, "maxProperties", `has ${size} properties`, `at most ${max} properties`);
    return isValid;
  };
}

/** What a missing property would have to be, as far as one word says it. */
function describe(schema: unknown): string {
  const type = isCopiedObject(schema as never) ? (schema as CopiedObject)["type"] : undefined;
  const list = isCopiedObject(schema as never) ? (schema as CopiedObject)["enum"] : undefined;
  if (Array.isArray(list)) return `one of ${showList(list)}`;
  return typeof type === "string" ? `a value of type ${type}` : "a value";
}

/** `dependentRequired`, and `dependencies` that are lists of names. */
export function checkDependentNames(dependencies: ReadonlyMap<string, readonly string[]>): Check | undefined {
  if (dependencies.size === 0) return undefined;
  return (value, run) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const [name, needed] of dependencies) {
      spend(run, 1);
      if (!hasMember(value, name)) continue;
      for (const other of needed) {
        spend(run, 1);
        if (hasMember(value, other)) continue;
        if (run.collector === null) return false;
        isValid = report(run, "dependentRequired", `${quote(other)} is missing`, `it beside ${quote(name)}`, {
          at: other,
        });
      }
    }
    return isValid;
  };
}
