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

/** Schemas without any `default` are the rule: their answer is known by identity. */
const withoutDefaults = new WeakSet<JsonObject>();

/** @returns defaults of properties that `given` lacks, only inside objects that are there. At most 100, 8 levels deep. */
export function collectDefaults(schema: JsonObject, given: JsonObject): readonly MissingDefault[] {
  if (withoutDefaults.has(schema)) return [];
  if (!mentionsDefault(schema, 0)) {
    withoutDefaults.add(schema);
    return [];
  }
  const found: MissingDefault[] = [];
  const visit = (node: unknown, value: JsonObject, path: readonly string[]): void => {
    const resolved = resolveLocal(schema, node);
    const properties = resolved === undefined ? undefined : ownProperty(resolved, "properties");
    if (!isJsonObject(properties) || path.length >= MAX_DEPTH) return;
    for (const name of Object.keys(properties)) {
      if (found.length >= MAX_DEFAULTS) return;
      const member = ownProperty(value, name);
      const next = [...path, name];
      if (isJsonObject(member)) visit(properties[name], member, next);
      else if (member === undefined) addDefault(properties[name], next);
    }
  };
  const addDefault = (node: unknown, path: readonly string[]): void => {
    const own = isJsonObject(node) ? ownProperty(node, "default") : undefined;
    const value = own ?? ownProperty(resolveLocal(schema, node) ?? {}, "default");
    // A default of null says "none" more often than it is a value that the server wants to see.
    if (value === undefined || value === null) return;
    const copied = copyArguments({ value });
    if (copied.ok) found.push({ path, value: copied.value["value"] ?? null });
  };
  visit(schema, given, []);
  return found;
}

function mentionsDefault(value: unknown, depth: number): boolean {
  if (depth > 64 || typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value) && Object.hasOwn(value, "default")) return true;
  return Object.values(value).some((member) => mentionsDefault(member, depth + 1));
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
