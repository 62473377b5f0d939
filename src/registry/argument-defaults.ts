/** The defaults that a schema states for properties that are absent: along plain `properties`, following local `$ref`s. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import { pointerTokens } from "../jsonschema/uri.ts";
import { copyArguments } from "./argument-copy.ts";

export interface MissingDefault {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

const MAX_DEFAULTS = 100;
const MAX_DEPTH = 8;
const MAX_PLANNED = 500;

/** The part of a schema that leads to defaults; made once per schema. */
interface DefaultPlan {
  readonly defaults: readonly (readonly [string, JsonValue])[];
  readonly inside: readonly (readonly [string, DefaultPlan])[];
}

const plans = new WeakMap<JsonObject, DefaultPlan>();

/** @returns defaults of properties that `given` lacks, only inside objects that are there. At most 100, 8 levels deep. */
export function collectDefaults(schema: JsonObject, given: JsonObject): readonly MissingDefault[] {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = planDefaults(schema);
    plans.set(schema, plan);
  }
  if (plan.defaults.length === 0 && plan.inside.length === 0) return [];
  const found: MissingDefault[] = [];
  collect(plan, given, [], found);
  return found;
}

function collect(
  plan: DefaultPlan,
  given: JsonObject,
  path: readonly string[],
  found: MissingDefault[],
): void {
  for (const [name, value] of plan.defaults) {
    if (found.length < MAX_DEFAULTS && !Object.hasOwn(given, name))
      found.push({ path: [...path, name], value });
  }
  for (const [name, inside] of plan.inside) {
    const member = ownProperty(given, name);
    if (isJsonObject(member)) collect(inside, member, [...path, name], found);
  }
}

function planDefaults(root: JsonObject): DefaultPlan {
  let planned = 0;
  const visit = (node: unknown, depth: number): DefaultPlan => {
    const defaults: [string, JsonValue][] = [];
    const inside: [string, DefaultPlan][] = [];
    const resolved = resolveLocal(root, node);
    const properties = resolved === undefined ? undefined : ownProperty(resolved, "properties");
    if (!isJsonObject(properties) || depth >= MAX_DEPTH) return { defaults, inside };
    for (const name of Object.keys(properties)) {
      planned += 1;
      if (planned > MAX_PLANNED) break;
      const value = defaultOf(root, properties[name]);
      if (value !== undefined) defaults.push([name, value]);
      const plan = visit(properties[name], depth + 1);
      if (plan.defaults.length > 0 || plan.inside.length > 0) inside.push([name, plan]);
    }
    return { defaults, inside };
  };
  return visit(root, 0);
}

/** A default of null says "none" more often than it is a value that the server wants to see. */
function defaultOf(root: JsonObject, node: unknown): JsonValue | undefined {
  const own = isJsonObject(node) ? ownProperty(node, "default") : undefined;
  const value = own ?? ownProperty(resolveLocal(root, node) ?? {}, "default");
  if (value === undefined || value === null) return undefined;
  const copied = copyArguments({ value });
  return copied.ok ? copied.value["value"] : undefined;
}

/** The schema itself, or where its `$ref` leads inside `root`; at most 8 steps. */
function resolveLocal(root: JsonObject, node: unknown): JsonObject | undefined {
  let current: unknown = node;
  for (let hop = 0; hop < 8 && isJsonObject(current); hop += 1) {
    const reference = ownProperty(current, "$ref");
    if (typeof reference !== "string") return current;
    const tokens = reference.startsWith("#") ? pointerTokens(reference.slice(1)) : undefined;
    if (tokens === undefined) return undefined;
    let target: unknown = root;
    for (const token of tokens)
      target = typeof target === "object" && target !== null ? ownProperty(target, token) : undefined;
    current = target;
  }
  return undefined;
}

/** Whether the schema requires the property at `path`; `true` where that cannot be told. */
export function isRequiredAt(schema: JsonObject, path: readonly string[]): boolean {
  let node: JsonObject | undefined = resolveLocal(schema, schema);
  for (const [at, name] of path.entries()) {
    if (node === undefined) return true;
    const properties = ownProperty(node, "properties");
    const items = ownProperty(node, "items");
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
      if (at === path.length - 1) {
        const required = ownProperty(node, "required");
        return Array.isArray(required) && required.includes(name);
      }
      node = resolveLocal(schema, properties[name]);
    } else if (isJsonObject(items) && /^\d+$/.test(name) && at < path.length - 1) {
      node = resolveLocal(schema, items);
    } else {
      return true;
    }
  }
  return true;
}
