/**
 * What an export refers to: every schema that is the target of a `$ref` gets one short name and is exported once, whatever it was
 * called and wherever it stood.
 */
import { isCopiedObject, type Copied, type CopiedObject } from "../jsonschema/bounds.ts";
import type { SchemaDocument } from "../jsonschema/document.ts";

interface Definition {
  readonly name: string;
  readonly schema: Copied;
}

export interface References {
  /** What `schema` refers to. */
  targetOf(schema: Copied): Copied | undefined;
  /** Whether its dialect ignores what stands beside a `$ref`. */
  hidesSiblings(schema: CopiedObject): boolean;
  /** The `$ref` to what `schema` refers to; `undefined` where it refers to nothing, or there are too many definitions. */
  refOf(schema: CopiedObject): string | undefined;
  /** The next definition that is referred to and not exported yet. */
  next(): Definition | undefined;
}

const MAX_DEFS = 400;

export function createReferences(document: SchemaDocument): References {
  const names = new Map<Copied, string>();
  const waiting: Definition[] = [];

  const targetOf = (schema: Copied): Copied | undefined => {
    if (!isCopiedObject(schema)) return undefined;
    return [...(document.targets.get(schema)?.values() ?? [])][0]?.schema;
  };

  return {
    targetOf,
    hidesSiblings: (schema) => document.places.get(schema)?.resource.rules.refHidesSiblings === true,
    refOf(schema) {
      const target = targetOf(schema);
      if (target === undefined) return undefined;
      if (target === document.root) return "#";
      const known = names.get(target);
      if (known !== undefined) return `#/$defs/${known}`;
      if (names.size >= MAX_DEFS) return undefined;
      const name = `d${names.size + 1}`;
      names.set(target, name);
      waiting.push({ name, schema: target });
      return `#/$defs/${name}`;
    },
    next: () => waiting.shift(),
  };
}
