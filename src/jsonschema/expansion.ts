/**
 * How many schemas one value may have to pass. `allOf`, `$ref` and their like apply in place, so references can double the work
 * at each step, or lead back to where they came from without going into the value: both are found here, before anything runs.
 */
import { isCopiedObject, type Copied, type CopiedObject, type SchemaBounds } from "./bounds.ts";
import type { SchemaDocument, SchemaRefusal } from "./document.ts";

const LISTS = ["allOf", "anyOf", "oneOf"] as const;
const SINGLES = ["not", "if", "then", "else"] as const;
const MAPS = ["dependentSchemas", "dependencies"] as const;

/** A chain of references as long as this is no honest schema, and would be a deep call. */
const MAX_CHAIN = 200;

const LEAF = { cost: 1, chain: 1 } as const;

/** The schemas that apply to the same value as `node`. */
export function appliedInPlace(node: CopiedObject, document: SchemaDocument): readonly CopiedObject[] {
  const found: CopiedObject[] = [];
  const add = (schema: Copied | undefined): void => {
    if (isCopiedObject(schema)) found.push(schema);
  };
  for (const target of document.targets.get(node)?.values() ?? []) add(target.schema);
  const rules = document.places.get(node)?.resource.rules;
  if (rules?.refHidesSiblings === true && typeof node["$ref"] === "string") return found;
  for (const keyword of LISTS) {
    const list = node[keyword];
    if (Array.isArray(list)) for (const schema of list) add(schema);
  }
  for (const keyword of SINGLES) add(node[keyword]);
  for (const keyword of MAPS) {
    const map = node[keyword];
    if (isCopiedObject(map)) for (const name of Object.keys(map)) add(map[name]);
  }
  return found;
}

interface Visit {
  readonly node: CopiedObject;
  readonly next: readonly CopiedObject[];
  at: number;
  cost: number;
  chain: number;
}

/** Depth first without recursion; every schema once. */
export function measureExpansion(document: SchemaDocument, bounds: SchemaBounds): SchemaRefusal | undefined {
  const done = new Map<CopiedObject, { readonly cost: number; readonly chain: number }>();
  const open = new Set<CopiedObject>();
  const pointerOf = (node: CopiedObject): string => document.places.get(node)?.pointer ?? "";
  for (const start of document.places.keys()) {
    if (done.has(start)) continue;
    if (appliedInPlace(start, document).length === 0) {
      done.set(start, LEAF);
      continue;
    }
    const stack: Visit[] = [];
    const push = (node: CopiedObject): void => {
      open.add(node);
      stack.push({ node, next: appliedInPlace(node, document), at: 0, cost: 1, chain: 1 });
    };
    push(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const child = top.next[top.at];
      if (child === undefined) {
        stack.pop();
        open.delete(top.node);
        done.set(top.node, { cost: top.cost, chain: top.chain });
        continue;
      }
      if (open.has(child)) {
        return {
          code: "cyclic_ref",
          reason: "a reference leads back to itself without going into the value",
          pointer: pointerOf(child),
        };
      }
      const known = done.get(child);
      if (known === undefined) {
        push(child);
        continue;
      }
      top.at += 1;
      top.cost += known.cost;
      top.chain = Math.max(top.chain, known.chain + 1);
      if (top.cost > bounds.expansion || top.chain > MAX_CHAIN) {
        const reason = "its references multiply: one value would have to pass too many schemas";
        return { code: "too_complex", reason, pointer: pointerOf(top.node) };
      }
    }
  }
  return undefined;
}
