/**
 * Reads the schema itself: which keys stand at a place, and which keys there are at all. Key names are written
 * `mcpServers.*.tools.*.grade`: `*` stands for a name that the operator chooses, and a list adds nothing.
 */
import * as z from "zod";
import type { ConfigPath } from "./problems.ts";
import { configSchema } from "./schema.ts";

export interface SchemaKey {
  /** For example `mcpServers.*.limits.timeout`. */
  readonly name: string;
  readonly description: string;
  /** The values of an enumerated key, for example `lazy`, `eager`. */
  readonly choices: readonly string[];
}

/** The schemas behind optional wrappers and unions that could hold a value. */
function alternatives(schema: unknown): unknown[] {
  if (schema instanceof z.ZodOptional) return alternatives(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(alternatives);
  return [schema];
}

/** The schemas of what stands under `part`. */
function descend(schema: unknown, part: string | number): unknown[] {
  return alternatives(schema).flatMap((one) => {
    if (one instanceof z.ZodArray) return typeof part === "number" ? [one.element] : [];
    if (one instanceof z.ZodRecord) return [one.valueType];
    if (one instanceof z.ZodObject && Object.hasOwn(one.shape, part)) {
      return [(one.shape as Record<string, unknown>)[part]];
    }
    return [];
  });
}

/** The keys that an object at `path` may have; empty where the names are free or there is no object. */
export function listKeysAt(path: ConfigPath): readonly string[] {
  let schemas: unknown[] = [configSchema];
  for (const part of path) schemas = schemas.flatMap((schema) => descend(schema, part));
  return schemas
    .flatMap(alternatives)
    .flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
}

/** Every key of the schema, outer ones first. */
export function listSchemaKeys(): readonly SchemaKey[] {
  const keys = new Map<string, SchemaKey>();
  const visit = (schema: unknown, name: string): void => {
    for (const one of alternatives(schema)) {
      if (one instanceof z.ZodArray) visit(one.element, name);
      // Names under a record of plain values (headers, arguments) are the operator's own and no keys.
      if (one instanceof z.ZodRecord) visit(one.valueType, `${name}.*`);
      if (!(one instanceof z.ZodObject)) continue;
      for (const [key, value] of Object.entries(one.shape as Record<string, z.ZodType>)) {
        const inner = name === "" ? key : `${name}.${key}`;
        keys.set(inner, { name: inner, description: descriptionOf(value), choices: choicesOf(value) });
        visit(value, inner);
      }
    }
  };
  visit(configSchema, "");
  return [...keys.values()];
}

function descriptionOf(schema: z.ZodType): string {
  if (schema.description !== undefined) return schema.description;
  return schema instanceof z.ZodOptional ? descriptionOf(schema.unwrap() as z.ZodType) : "";
}

function choicesOf(schema: unknown): readonly string[] {
  return alternatives(schema).flatMap((one) => {
    if (one instanceof z.ZodEnum) return one.options.map(String);
    if (one instanceof z.ZodLiteral) return [...one.values].map(String);
    return [];
  });
}

/** One key that a configuration uses. */
export interface UsedKey {
  readonly name: string;
  readonly path: ConfigPath;
  readonly value: unknown;
}

/** Every key of the schema that `raw` (already valid) uses, in the order of the file. */
export function listUsedKeys(raw: unknown): readonly UsedKey[] {
  const used: UsedKey[] = [];
  const visit = (schemas: readonly unknown[], value: unknown, name: string, path: ConfigPath): void => {
    if (typeof value !== "object" || value === null) return;
    const flat = schemas.flatMap(alternatives);
    for (const [key, member] of Object.entries(value)) {
      const part = Array.isArray(value) ? Number(key) : key;
      const inner = flat.flatMap((schema) => descend(schema, part));
      if (inner.length === 0) continue;
      const at = [...path, part];
      if (Array.isArray(value)) {
        visit(inner, member, name, at);
        continue;
      }
      const isNamed = flat.some(
        (schema) => schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key),
      );
      const innerName = [name, isNamed ? key : "*"].filter((text) => text !== "").join(".");
      if (isNamed) used.push({ name: innerName, path: at, value: member });
      visit(inner, member, innerName, at);
    }
  };
  visit([configSchema], raw, "", []);
  return used;
}
