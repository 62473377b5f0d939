/**
 * One schema as an island: the resources in it (`$id`), their anchors, and where each reference leads. Nothing outside the
 * schema exists: a reference that leaves it is refused with its text, and never fetched (MCP basic/index, "$ref resolution").
 */
import { copyWithin, isCopiedObject, type Copied, type CopiedObject, type SchemaBounds } from "./bounds.ts";
import { dialectOf, dialectRules, type Dialect, type DialectRules } from "./dialect.ts";
import { quote, show } from "./issues.ts";
import { keywordShapes, misshapen } from "./keywords.ts";
import { pointerStep, pointerTokens, resolveUri } from "./uri.ts";

type SchemaRefusalCode =
  | "not_json"
  | "too_large"
  | "too_deep"
  | "too_many_subschemas"
  | "too_complex"
  | "malformed"
  | "remote_ref"
  | "dangling_ref"
  | "cyclic_ref"
  | "unsupported_pattern";

export interface SchemaRefusal {
  readonly code: SchemaRefusalCode;
  /** One sentence, safe to print. */
  readonly reason: string;
  /** JSON pointer into the schema. */
  readonly pointer: string;
}

/** Something in a usable schema that is worth saying. */
export interface SchemaNote {
  readonly code: "unknown_dialect" | "pattern_not_enforced" | "empty_enum" | "tuple_items";
  readonly message: string;
  readonly pointer: string;
}

/** A part of the schema with a name of its own. */
export interface Resource {
  readonly base: string;
  readonly root: Copied;
  readonly rules: DialectRules;
  readonly anchors: Map<string, CopiedObject>;
  readonly dynamicAnchors: Map<string, CopiedObject>;
  readonly isRecursiveAnchor: boolean;
}

export interface Place {
  readonly resource: Resource;
  readonly pointer: string;
}

/** Where a reference leads. */
export interface Target {
  readonly schema: Copied;
  readonly resource: Resource;
  /** The dynamic anchor that it was found by. */
  readonly dynamicAnchor: string | undefined;
}

type ReferenceKeyword = "$ref" | "$dynamicRef" | "$recursiveRef";

export interface SchemaDocument {
  readonly root: Copied;
  readonly dialect: Dialect;
  readonly places: ReadonlyMap<CopiedObject, Place>;
  readonly targets: ReadonlyMap<CopiedObject, ReadonlyMap<ReferenceKeyword, Target>>;
  /** More than one resource: only then dynamic references depend on the way that was taken. */
  readonly hasManyResources: boolean;
  readonly notes: SchemaNote[];
}

export type DocumentResult =
  | { readonly ok: true; readonly document: SchemaDocument }
  | { readonly ok: false; readonly refusal: SchemaRefusal };

const REFERENCE_KEYWORDS: readonly ReferenceKeyword[] = ["$ref", "$dynamicRef", "$recursiveRef"];

const tooMuch = {
  too_large: (bounds: SchemaBounds) => `the schema is larger than ${bounds.bytes} bytes`,
  too_deep: () => "the schema is nested too deeply",
  not_json: () => "the schema is not JSON",
} as const;

/** Copies, measures and indexes a schema, and resolves all its references. Linear in its size. */
export function readDocument(
  schema: unknown,
  bounds: SchemaBounds,
  forced: Dialect | undefined,
): DocumentResult {
  const copied = copyWithin(schema, bounds.bytes);
  if (!copied.ok)
    return {
      ok: false,
      refusal: { code: copied.reason, reason: tooMuch[copied.reason](bounds), pointer: "" },
    };
  const root = copied.copy;
  if (typeof root !== "boolean" && !isCopiedObject(root)) {
    return {
      ok: false,
      refusal: {
        code: "malformed",
        reason: `a schema is an object or a boolean, not ${show(root)}`,
        pointer: "",
      },
    };
  }

  const places = new Map<CopiedObject, Place>();
  const targets = new Map<CopiedObject, Map<ReferenceKeyword, Target>>();
  const resources = new Map<string, Resource>();
  const unresolved: {
    readonly from: CopiedObject;
    readonly keyword: ReferenceKeyword;
    readonly text: string;
  }[] = [];
  const notes: SchemaNote[] = [];
  let refusal: SchemaRefusal | undefined;

  const refuse = (code: SchemaRefusalCode, reason: string, pointer: string): void => {
    refusal ??= { code, reason, pointer };
  };

  const readDialect = (node: CopiedObject, pointer: string, inherited: DialectRules): DialectRules => {
    const declared = node["$schema"];
    if (declared === undefined || forced !== undefined) return inherited;
    if (typeof declared !== "string") {
      refuse("malformed", "`$schema` is not a string", pointer);
      return inherited;
    }
    const dialect = dialectOf(declared);
    if (dialect !== undefined) return dialectRules(dialect);
    const message = `the dialect ${quote(declared)} is not supported: read as ${inherited.dialect}`;
    notes.push({ code: "unknown_dialect", message, pointer });
    return inherited;
  };

  /** The resource that `node` belongs to: a new one where it has an id, or is the root. */
  const openResource = (node: CopiedObject, pointer: string, outer: Resource | undefined): Resource => {
    const inherited = outer?.rules ?? dialectRules(forced ?? "2020-12");
    const rules =
      outer === undefined || typeof node["$id"] === "string"
        ? readDialect(node, pointer, inherited)
        : inherited;
    const id = node[rules.idKeyword];
    const isHidden = rules.refHidesSiblings && typeof node["$ref"] === "string";
    if (typeof id !== "string" || isHidden) return outer ?? addResource("", node, rules);
    const name = resolveUri(outer?.base ?? "", id);
    const isAnchor = id.startsWith("#") && !rules.isVocabularyBased;
    if (outer !== undefined && (isAnchor || name.resource === outer.base)) {
      if (name.fragment !== "") outer.anchors.set(name.fragment, node);
      return outer;
    }
    const resource = addResource(name.resource, node, rules);
    if (isAnchor && name.fragment !== "") resource.anchors.set(name.fragment, node);
    return resource;
  };

  const addResource = (base: string, node: Copied, rules: DialectRules): Resource => {
    const resource: Resource = {
      base,
      root: node,
      rules,
      anchors: new Map(),
      dynamicAnchors: new Map(),
      isRecursiveAnchor: isCopiedObject(node) && node["$recursiveAnchor"] === true,
    };
    if (!resources.has(base)) resources.set(base, resource);
    return resource;
  };

  const readNames = (node: CopiedObject, resource: Resource): void => {
    const { $anchor: anchor, $dynamicAnchor: dynamicAnchor } = node;
    if (resource.rules.isVocabularyBased && typeof anchor === "string") resource.anchors.set(anchor, node);
    if (resource.rules.hasDynamicRef && typeof dynamicAnchor === "string") {
      resource.anchors.set(dynamicAnchor, node);
      resource.dynamicAnchors.set(dynamicAnchor, node);
    }
    for (const keyword of REFERENCE_KEYWORDS) {
      const text = node[keyword];
      if (typeof text !== "string") continue;
      if (keyword === "$dynamicRef" && !resource.rules.hasDynamicRef) continue;
      if (keyword === "$recursiveRef" && !resource.rules.hasRecursiveRef) continue;
      unresolved.push({ from: node, keyword, text });
    }
  };

  const walk = (node: Copied, outer: Resource | undefined, pointer: string, depth: number): void => {
    if (refusal !== undefined || !isCopiedObject(node) || places.has(node)) return;
    if (depth > bounds.depth)
      return refuse("too_deep", `schemas are nested deeper than ${bounds.depth}`, pointer);
    if (places.size >= bounds.subschemas) {
      return refuse("too_many_subschemas", `there are more than ${bounds.subschemas} schemas in it`, pointer);
    }
    const resource = openResource(node, pointer, outer);
    places.set(node, { resource, pointer });
    readNames(node, resource);
    const shapes = keywordShapes(resource.rules);
    for (const keyword of Object.keys(node)) {
      const shape = shapes.get(keyword);
      const value = node[keyword];
      if (shape === undefined || value === undefined) continue;
      const at = pointer + pointerStep(keyword);
      const expected = misshapen(shape, value);
      if (expected !== undefined) {
        return refuse("malformed", `\`${keyword}\` is ${show(value)}, not ${expected}`, at);
      }
      if (keyword === "enum" && Array.isArray(value) && value.length === 0) {
        notes.push({ code: "empty_enum", message: "`enum` is empty: no value fits", pointer: at });
      }
      if (keyword === "items" && Array.isArray(value) && !resource.rules.hasTupleItems) {
        notes.push({
          code: "tuple_items",
          message: "`items` is a list, which 2020-12 calls `prefixItems`",
          pointer: at,
        });
      }
      if (!shape.includes("schema") && shape !== "dependencies") continue;
      if (Array.isArray(value)) {
        for (const [index, item] of value.entries()) walk(item, resource, at + pointerStep(index), depth + 1);
      } else if (shape.endsWith("map") || shape === "dependencies") {
        const map = value as CopiedObject;
        for (const name of Object.keys(map))
          walk(map[name] ?? null, resource, at + pointerStep(name), depth + 1);
      } else {
        walk(value, resource, at, depth + 1);
      }
    }
  };

  /** Follows a JSON pointer; a place that no keyword leads to becomes one by being referred to. */
  const follow = (resource: Resource, tokens: readonly string[]): Copied | undefined => {
    let node: Copied | undefined = resource.root;
    let enclosing = resource;
    let pointer = isCopiedObject(resource.root) ? (places.get(resource.root)?.pointer ?? "") : "";
    for (const token of tokens) {
      if (Array.isArray(node)) node = /^(?:0|[1-9]\d{0,8})$/.test(token) ? node[Number(token)] : undefined;
      else node = isCopiedObject(node) ? node[token] : undefined;
      pointer += pointerStep(token);
      if (isCopiedObject(node)) enclosing = places.get(node)?.resource ?? enclosing;
    }
    if (isCopiedObject(node) && !places.has(node)) walk(node, enclosing, pointer, 0);
    return node;
  };

  const resolve = (from: CopiedObject, keyword: ReferenceKeyword, text: string): void => {
    const place = places.get(from);
    if (place === undefined) return;
    const uri = resolveUri(place.resource.base, text);
    const at = place.pointer + pointerStep(keyword);
    const resource = resources.get(uri.resource);
    if (resource === undefined) {
      return refuse(
        "remote_ref",
        `\`${keyword}\` ${quote(text)} leads out of the schema; nothing is fetched`,
        at,
      );
    }
    const tokens = pointerTokens(uri.fragment);
    const schema = tokens === undefined ? resource.anchors.get(uri.fragment) : follow(resource, tokens);
    if (typeof schema !== "boolean" && !isCopiedObject(schema)) {
      return refuse("dangling_ref", `\`${keyword}\` ${quote(text)} leads to nothing in the schema`, at);
    }
    const found = isCopiedObject(schema) ? (places.get(schema)?.resource ?? resource) : resource;
    const isDynamic = tokens === undefined && resource.dynamicAnchors.has(uri.fragment);
    const known = targets.get(from) ?? new Map<ReferenceKeyword, Target>();
    known.set(keyword, { schema, resource: found, dynamicAnchor: isDynamic ? uri.fragment : undefined });
    targets.set(from, known);
  };

  if (isCopiedObject(root)) walk(root, undefined, "", 0);
  // Resolving may index places that nothing else led to, with references of their own.
  for (
    let reference = unresolved.pop();
    reference !== undefined && refusal === undefined;
    reference = unresolved.pop()
  ) {
    resolve(reference.from, reference.keyword, reference.text);
  }
  if (refusal !== undefined) return { ok: false, refusal };
  const dialect = isCopiedObject(root)
    ? (places.get(root)?.resource.rules.dialect ?? "2020-12")
    : (forced ?? "2020-12");
  return {
    ok: true,
    document: { root, dialect, places, targets, hasManyResources: resources.size > 1, notes },
  };
}
