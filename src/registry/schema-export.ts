/**
 * A tool's schema in the subset of a provider. Arguments that fit the original can always be said in the exported form and come
 * back the same (`toArguments`); what the subset cannot express is put into words where the model reads it, and stays checked by
 * us. Never throws: a schema that cannot be read becomes an open object.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import {
  isCopiedObject,
  DEFAULT_SCHEMA_BOUNDS,
  type Copied,
  type CopiedObject,
} from "../jsonschema/bounds.ts";
import { readDocument, type SchemaDocument } from "../jsonschema/document.ts";
import { measureExpansion } from "../jsonschema/expansion.ts";
import { cleanForModel, clip } from "../text/clean.ts";
import { createNameMap, type NameMap } from "./property-names.ts";
import { asRootObject, hasChecks, mergeAll, orNull, typesOf } from "./schema-merge.ts";
import type { SchemaProfile } from "./schema-profile.ts";
import { createReferences, type References } from "./schema-references.ts";
import { closeStrictly, MAX_STRICT_DEPTH, MAX_STRICT_ENUM, MAX_STRICT_PROPERTIES } from "./schema-strict.ts";
import { showableValues } from "./schema-text.ts";
import { enumForm, isPortablePattern, SINGLE_SCHEMAS, toJson } from "./schema-values.ts";
import { inWords } from "./schema-words.ts";

export interface ExportedSchema {
  readonly schema: JsonObject;
  /** What was simplified, a sentence each. */
  readonly notes: readonly string[];
  /** In strict mode: whether the strict form says all that the original allows. Otherwise offer it without strictness. */
  readonly isFaithful: boolean;
  /** Arguments of the exported form as the original names them. */
  readonly toArguments: (input: unknown) => unknown;
}

const MAX_NOTES = 20;
const OPEN_OBJECT: JsonObject = { type: "object", properties: {} };

/** @param schema the input schema as the server sent it. */
export function exportSchema(schema: JsonObject, profile: SchemaProfile): ExportedSchema {
  // A schema of an operator may be larger than what a server is allowed.
  const bounds = { ...DEFAULT_SCHEMA_BOUNDS, bytes: 1024 * 1024, expansion: 2_000 };
  const read = readDocument(schema, bounds, undefined);
  const refusal = read.ok ? measureExpansion(read.document, bounds) : read.refusal;
  if (!read.ok || refusal !== undefined || !isCopiedObject(read.document.root)) {
    const reason = refusal?.reason ?? "it is no object";
    return {
      schema: OPEN_OBJECT,
      notes: [`the schema is offered as an open object: ${reason}`],
      isFaithful: false,
      toArguments: (input) => input,
    };
  }
  return new Exporter(read.document, profile).run(read.document.root);
}

/** One export: the definitions that are needed, the names that were changed, what was lost. */
class Exporter {
  readonly #references: References;
  readonly #profile: SchemaProfile;
  readonly #names: NameMap;
  readonly #notes = new Set<string>();
  #isFaithful = true;
  #properties = 0;
  #enumValues = 0;

  constructor(document: SchemaDocument, profile: SchemaProfile) {
    this.#references = createReferences(document);
    this.#profile = profile;
    this.#names = createNameMap(profile.propertyName);
  }

  run(root: CopiedObject): ExportedSchema {
    const schema = this.#asRoot(root);
    const definitions: JsonObject = {};
    for (let next = this.#references.next(); next !== undefined; next = this.#references.next()) {
      definitions[next.name] = this.#node(next.schema, 1);
    }
    if (Object.keys(definitions).length > 0) schema["$defs"] = definitions;
    if (this.#properties > MAX_STRICT_PROPERTIES || this.#enumValues > MAX_STRICT_ENUM)
      this.#lose("it is too large for strict mode");
    return {
      schema,
      notes: [...this.#notes].slice(0, MAX_NOTES),
      isFaithful: this.#isFaithful,
      toArguments: this.#names.restore,
    };
  }

  /** Something that the strict form cannot say at all. */
  #lose(note: string): void {
    this.#isFaithful = false;
    this.#notes.add(note);
  }

  #node(schema: Copied, depth: number): JsonObject {
    if (!isCopiedObject(schema)) {
      if (this.#profile.isStrict) this.#lose("it has a part without a type");
      return {};
    }
    if (this.#profile.isStrict && depth > MAX_STRICT_DEPTH)
      this.#lose("it is nested too deeply for strict mode");
    const reference = this.#references.refOf(this.#aliasOf(schema));
    const hidesSiblings = this.#references.hidesSiblings(schema);
    if (reference === undefined) return this.#own(schema, depth);
    if (this.#profile.hasRefSiblings && !hidesSiblings)
      return { $ref: reference, ...this.#own(schema, depth) };
    if (!hidesSiblings && hasChecks(schema, ["allOf"])) {
      this.#notes.add("what stands beside a `$ref` is checked but not shown");
    }
    return { $ref: reference };
  }

  /** What the schema says apart from its reference and the keywords that are left out. */
  #own(schema: CopiedObject, depth: number, left: readonly string[] = []): JsonObject {
    const exported: JsonObject = {};
    const said: string[] = [];
    for (const keyword of Object.keys(schema)) {
      if (!left.includes(keyword)) this.#keyword(keyword, schema, exported, said, depth);
    }
    this.#finish(schema, exported, said);
    return exported;
  }

  /** `allOf` with one reference and nothing beside it is that reference: generators write it so to add a description. */
  #aliasOf(schema: CopiedObject): CopiedObject {
    const parts = schema["allOf"];
    if (this.#profile.keywords.has("allOf") || !Array.isArray(parts) || parts.length !== 1) return schema;
    const [part] = parts;
    const isAlias = isCopiedObject(part) && this.#references.targetOf(part) !== undefined && !hasChecks(part);
    return isAlias && this.#references.targetOf(schema) === undefined && !hasChecks(schema, ["allOf"])
      ? part
      : schema;
  }

  #keyword(keyword: string, schema: CopiedObject, exported: JsonObject, said: string[], depth: number): void {
    const value = schema[keyword];
    const { keywords } = this.#profile;
    if (value === undefined) return;
    switch (keyword) {
      case "properties":
        if (isCopiedObject(value)) exported["properties"] = this.#members(value, schema, depth);
        return;
      case "required":
        if (Array.isArray(value))
          exported["required"] = [...new Set(namesIn(value).map((name) => this.#names.replace(name)))];
        return;
      case "items":
        if (Array.isArray(value)) return this.#list("prefixItems", value, exported, said, depth);
        if (!Array.isArray(schema["items"])) exported["items"] = this.#orBoolean(value, depth);
        return;
      case "additionalItems":
        if (Array.isArray(schema["items"]) && keywords.has("prefixItems"))
          exported["items"] = this.#orBoolean(value, depth);
        return;
      case "allOf":
      case "anyOf":
      case "oneOf":
      case "prefixItems":
        if (Array.isArray(value)) this.#list(keyword, value, exported, said, depth);
        return;
      case "dependencies":
        return this.#dependencies(value, exported, said, depth);
      case "enum":
        if (Array.isArray(value)) this.#enum(value, schema, exported, said);
        return;
      case "const":
        if (!keywords.has("const")) this.#enum([value], schema, exported, said);
        else if (this.#showable(value) !== undefined) exported["const"] = value as JsonValue;
        return;
      case "default":
      case "examples":
        if (keywords.has(keyword) && this.#showable(value) !== undefined)
          exported[keyword] = toJson(this.#showable(value) ?? null);
        return;
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        return this.#exclusive(keyword, value, schema, exported, said);
      case "pattern":
        if (keywords.has("pattern") && isPortablePattern(value)) exported["pattern"] = value as string;
        else said.push(inWords(keyword, value));
        return;
      case "description":
      case "title":
        if (typeof value === "string")
          exported[keyword] = clip(cleanForModel(value), this.#profile.maxDescription);
        return;
      default:
        return this.#other(keyword, value, exported, said, depth);
    }
  }

  #members(value: CopiedObject, schema: CopiedObject, depth: number): JsonObject {
    const properties: JsonObject = {};
    for (const name of Object.keys(value)) {
      this.#properties += 1;
      const member = value[name] ?? null;
      if (member === false) {
        this.#notes.add("properties that no value fits are left out");
        continue;
      }
      const shown = this.#node(member, depth + 1);
      const isRequired = Array.isArray(schema["required"]) && schema["required"].includes(name);
      properties[this.#names.replace(name)] = this.#profile.isStrict && !isRequired ? orNull(shown) : shown;
    }
    return properties;
  }

  #orBoolean(value: Copied, depth: number): JsonValue {
    if (typeof value === "boolean" && !this.#profile.isStrict) return value ? {} : false;
    return this.#node(value, depth + 1);
  }

  /** Lists of schemas; `oneOf` as `anyOf`, and `allOf` merged, where the subset has neither. */
  #list(
    keyword: string,
    value: readonly Copied[],
    exported: JsonObject,
    said: string[],
    depth: number,
  ): void {
    const { keywords, isStrict } = this.#profile;
    const usual = keyword === "oneOf" && !keywords.has("oneOf") ? "anyOf" : keyword;
    if (keywords.has(usual)) {
      // What is absent comes back as null; inside a second layer of alternatives our check cannot tell that null from a value.
      if (isStrict && value.some(hasAlternatives))
        this.#lose("alternatives within alternatives have no strict form");
      if (exported[usual] === undefined) exported[usual] = value.map((item) => this.#node(item, depth + 1));
      else this.#notes.add(`\`${keyword}\` beside \`${usual}\` is checked but not shown`);
      return;
    }
    if (keyword === "allOf") {
      for (const part of value) mergeAll(exported, this.#inline(part, depth, false), this.#notes);
      return;
    }
    if (isStrict) this.#lose(`\`${keyword}\` has no strict form`);
    said.push(`has ${value.length} fixed first items`);
  }

  #dependencies(value: Copied, exported: JsonObject, said: string[], depth: number): void {
    if (!isCopiedObject(value)) return;
    if (!this.#profile.keywords.has("dependentRequired")) {
      said.push(inWords("dependentRequired", value));
      return;
    }
    for (const name of Object.keys(value)) {
      const dependency = value[name] ?? null;
      const keyword = Array.isArray(dependency) ? "dependentRequired" : "dependentSchemas";
      const shown = Array.isArray(dependency)
        ? namesIn(dependency).map((other) => this.#names.replace(other))
        : this.#node(dependency, depth + 1);
      const map = exported[keyword];
      exported[keyword] = { ...(isJsonObject(map) ? map : {}), [this.#names.replace(name)]: shown };
    }
  }

  /** Values that a model reads: one with hidden characters is not offered, and our own check still takes it. */
  #showable<Value extends Copied>(value: Value): Value | undefined {
    const shown = showableValues(value);
    if (shown === value) return shown;
    if (this.#profile.isStrict) this.#lose("a value that holds hidden characters is not shown to a model");
    else this.#notes.add("values that hold hidden characters are left out");
    return shown;
  }

  #enum(values: readonly Copied[], schema: CopiedObject, exported: JsonObject, said: string[]): void {
    const value = this.#showable([...values]);
    if (value === undefined) return;
    const form = enumForm(value, schema["type"] === undefined, this.#profile.enumTypes);
    if (form === undefined) {
      if (this.#profile.isStrict) this.#lose("an enum of objects has no strict form");
      said.push(inWords("enum", value));
      return;
    }
    this.#enumValues += value.length;
    Object.assign(exported, form);
  }

  #exclusive(
    keyword: "exclusiveMinimum" | "exclusiveMaximum",
    value: Copied,
    schema: CopiedObject,
    exported: JsonObject,
    said: string[],
  ): void {
    const inclusive = keyword === "exclusiveMinimum" ? "minimum" : "maximum";
    const bound = typeof value === "boolean" ? (value ? schema[inclusive] : undefined) : value;
    if (typeof bound !== "number") return;
    if (this.#profile.keywords.has(keyword)) {
      exported[keyword] = bound;
      if (value === true) delete exported[inclusive];
    } else {
      said.push(inWords(keyword, bound));
    }
  }

  #other(keyword: string, value: Copied, exported: JsonObject, said: string[], depth: number): void {
    const { keywords } = this.#profile;
    if (keyword === "$ref" || keyword === "$defs" || keyword === "definitions") return;
    if (keyword === "minimum" || keyword === "maximum") {
      const exclusive = keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
      if (exported[exclusive] === value) return;
    }
    if (!keywords.has(keyword)) {
      const words = inWords(keyword, value);
      if (words !== "") said.push(words);
      return;
    }
    // In strict mode `closeStrictly` decides about other properties.
    if (keyword === "additionalProperties" && this.#profile.isStrict) return;
    if (SINGLE_SCHEMAS.has(keyword)) exported[keyword] = this.#orBoolean(value, depth);
    else if (keyword === "dependentSchemas" || keyword === "patternProperties") {
      if (!isCopiedObject(value)) return;
      const map: JsonObject = {};
      for (const name of Object.keys(value)) {
        const isPattern = keyword === "patternProperties";
        if (isPattern && !isPortablePattern(name)) continue;
        map[isPattern ? name : this.#names.replace(name)] = this.#node(value[name] ?? null, depth + 1);
      }
      if (Object.keys(map).length > 0) exported[keyword] = map;
    } else if (keyword === "dependentRequired") this.#dependencies(value, exported, said, depth);
    else exported[keyword] = toJson(value);
  }

  #finish(schema: CopiedObject, exported: JsonObject, said: string[]): void {
    const { isStrict, needsItems, maxDescription } = this.#profile;
    const types = typesOf(exported["type"]);
    if (needsItems && types.includes("array") && exported["items"] === undefined) {
      if (isStrict) this.#lose("an array without a schema of its items has no strict form");
      else exported["items"] = {};
    }
    if (types.includes("object") && exported["properties"] === undefined && needsItems && !isStrict)
      exported["properties"] = {};
    const lost = isStrict ? closeStrictly(schema, exported, types) : undefined;
    if (lost !== undefined) this.#lose(lost);
    if (said.length > 0) {
      const before = exported["description"];
      const words = `(${said.filter((word) => word !== "").join("; ")})`;
      if (words !== "()")
        exported["description"] = clip(
          typeof before === "string" ? `${before} ${words}` : words,
          maxDescription,
        );
    }
  }

  /** A schema with what it refers to and its `allOf` put into it: what applies in place never leads in a circle. */
  #inline(schema: Copied, depth: number, isRoot: boolean): JsonObject {
    if (!isCopiedObject(schema)) return {};
    const target = this.#references.targetOf(schema);
    const hidesSiblings = this.#references.hidesSiblings(schema);
    // What is gone into below is left out here: doing both would double the work at each level.
    const hasAllOf = this.#profile.keywords.has("allOf");
    const left = [...(hasAllOf ? ["allOf"] : []), ...(isRoot ? ["anyOf", "oneOf", "then", "else"] : [])];
    const inlined = target !== undefined && hidesSiblings ? {} : this.#own(schema, depth, left);
    if (target !== undefined) mergeAll(inlined, this.#inline(target, depth, isRoot), this.#notes);
    const parts = schema["allOf"];
    if (Array.isArray(parts) && hasAllOf) {
      for (const part of parts) mergeAll(inlined, this.#inline(part, depth, isRoot), this.#notes);
    }
    if (!isRoot) return inlined;
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = schema[keyword];
      if (Array.isArray(branches))
        inlined[keyword] = branches.map((branch) => this.#inline(branch, depth + 1, false));
    }
    for (const keyword of ["then", "else"]) {
      const branch = schema[keyword];
      if (branch !== undefined) inlined[keyword] = this.#inline(branch, depth + 1, false);
    }
    return inlined;
  }

  #asRoot(root: CopiedObject): JsonObject {
    const rooted = asRootObject(this.#inline(root, 0, true), this.#profile.isStrict);
    if (rooted.note !== undefined) {
      if (this.#profile.isStrict) this.#lose(rooted.note);
      else this.#notes.add(rooted.note);
    }
    return rooted.schema;
  }
}

function hasAlternatives(schema: Copied): boolean {
  return isCopiedObject(schema) && (Array.isArray(schema["anyOf"]) || Array.isArray(schema["oneOf"]));
}

function namesIn(list: readonly Copied[]): readonly string[] {
  return list.filter((name) => typeof name === "string");
}
