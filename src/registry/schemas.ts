/**
 * Compiled schemas by pin. A schema is compiled when it is first needed, or beforehand by `warm`, and forgotten when others were
 * needed more recently: nothing grows with what servers list.
 */
import { digestJson, ownProperty, type JsonObject } from "../base/json.ts";
import { compileSchema, type CompileResult } from "../jsonschema/compile.ts";
import type { SchemaBounds } from "../jsonschema/bounds.ts";
import type { ToolEntry } from "./entry.ts";

export interface Schemas {
  /** The check of a tool's arguments: its own schema, or the operator's override that stands in its entry. */
  input(entry: ToolEntry): CompileResult;
  /** The check of a tool's structured results; `undefined` for a tool without a usable output schema. */
  output(entry: ToolEntry): CompileResult | undefined;
  /** Compiles the input schemas of `entries`, one per turn of the event loop, until the cache is full or `signal` aborts. */
  warm(entries: readonly ToolEntry[], signal: AbortSignal): Promise<void>;
  size(): number;
}

/** About 20 KB each. */
const DEFAULT_MAX_SCHEMAS = 500;

export function createSchemas(
  options: { readonly maxSchemas?: number; readonly bounds?: Partial<SchemaBounds> } = {},
): Schemas {
  const maxSchemas = options.maxSchemas ?? DEFAULT_MAX_SCHEMAS;
  const compiled = new Map<string, { readonly result: CompileResult; usedAt: number }>();
  let uses = 0;
  const digests = new WeakMap<JsonObject, string>();

  const digestOf = (schema: JsonObject): string => {
    const known = digests.get(schema);
    if (known !== undefined) return known;
    const digest = digestJson(schema);
    digests.set(schema, digest);
    return digest;
  };

  const get = (key: string, schema: JsonObject): CompileResult => {
    uses += 1;
    const known = compiled.get(key);
    if (known !== undefined) {
      known.usedAt = uses;
      return known.result;
    }
    const result = compileSchema(schema, options.bounds === undefined ? {} : { bounds: options.bounds });
    compiled.set(key, { result, usedAt: uses });
    if (compiled.size > maxSchemas) forgetOldest();
    return result;
  };

  const forgetOldest = (): void => {
    let oldest: { readonly key: string; readonly usedAt: number } | undefined;
    for (const [key, { usedAt }] of compiled)
      if (oldest === undefined || usedAt < oldest.usedAt) oldest = { key, usedAt };
    if (oldest !== undefined) compiled.delete(oldest.key);
  };

  const input = (entry: ToolEntry): CompileResult => {
    const isOwn = ownProperty(entry.raw, "inputSchema") === entry.inputSchema;
    return get(`input ${isOwn ? entry.pin : digestOf(entry.inputSchema)}`, entry.inputSchema);
  };

  return {
    input,
    output: (entry) =>
      entry.outputSchema === null ? undefined : get(`output ${entry.pin}`, entry.outputSchema),
    async warm(entries, signal) {
      for (const entry of entries.slice(0, maxSchemas)) {
        if (signal.aborted) return;
        const result = input(entry);
        if (result.ok) result.prepare();
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    },
    size: () => compiled.size,
  };
}
