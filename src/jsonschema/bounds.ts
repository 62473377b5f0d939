/**
 * What a schema may cost, checked before anything is compiled. The schema is copied while it is measured: the copy has no
 * prototypes, so that `__proto__` and `constructor` are ordinary names in it, and nobody can change it afterwards.
 */

export interface SchemaBounds {
  /** Of its JSON text, UTF-8. Default 64 KiB. */
  readonly bytes: number;
  /** Schemas inside schemas. Default 64. */
  readonly depth: number;
  /** Schemas in all. Default 10,000. */
  readonly subschemas: number;
  /** Schemas that one single value may have to pass when every `$ref`, `allOf`, `anyOf` … is followed. Default 10,000. */
  readonly expansion: number;
}

export const DEFAULT_SCHEMA_BOUNDS: SchemaBounds = {
  bytes: 64 * 1024,
  depth: 64,
  subschemas: 10_000,
  expansion: 10_000,
};

/** JSON nesting goes up by two or three levels for one level of schema. */
const MAX_JSON_DEPTH = 256;

/** A value of a copied schema: objects without prototype. */
export type Copied = null | boolean | number | string | Copied[] | CopiedObject;
export type CopiedObject = { readonly [name: string]: Copied | undefined };

export type CopyResult =
  | { readonly ok: true; readonly copy: Copied; readonly bytes: number }
  | { readonly ok: false; readonly reason: "too_large" | "too_deep" | "not_json" };

/** True for an object of a copied schema. */
export function isCopiedObject(value: Copied | undefined): value is CopiedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Copies `value` as long as its JSON text stays within `maxBytes` and its nesting within `MAX_JSON_DEPTH`. */
export function copyWithin(value: unknown, maxBytes: number): CopyResult {
  let bytes = 0;
  let reason: "too_large" | "too_deep" | "not_json" | undefined;

  const fail = (why: "too_large" | "too_deep" | "not_json"): null => {
    reason ??= why;
    return null;
  };
  const spend = (count: number): void => {
    bytes += count;
    if (bytes > maxBytes) fail("too_large");
  };
  const copyText = (text: string): string => {
    spend(text.length > maxBytes ? text.length : Buffer.byteLength(text) + 2);
    return text;
  };
  const visit = (item: unknown, depth: number): Copied => {
    if (reason !== undefined) return null;
    if (depth > MAX_JSON_DEPTH) return fail("too_deep");
    if (typeof item === "string") return copyText(item);
    if (item === null || typeof item === "boolean") {
      spend(4);
      return item;
    }
    if (typeof item === "number") {
      if (!Number.isFinite(item)) return fail("not_json");
      spend(Number.isInteger(item) && Math.abs(item) < 1e6 ? 3 : 8);
      return item;
    }
    if (typeof item !== "object") return fail("not_json");
    spend(2);
    if (Array.isArray(item)) {
      const list: Copied[] = [];
      for (const member of item as unknown[]) {
        if (reason !== undefined) return null;
        spend(1);
        list.push(visit(member, depth + 1));
      }
      return list;
    }
    const copy = Object.create(null) as Record<string, Copied>;
    for (const name of Object.keys(item)) {
      if (reason !== undefined) return null;
      const member = (item as Record<string, unknown>)[name];
      if (member === undefined) continue;
      copyText(name);
      spend(2);
      copy[name] = visit(member, depth + 1);
    }
    return copy;
  };

  const copy = visit(value, 0);
  return reason === undefined ? { ok: true, copy, bytes } : { ok: false, reason };
}
