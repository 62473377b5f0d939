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
import { planPattern } from "../jsonschema/patterns.ts";
import { cleanForModel, clip } from "../text/clean.ts";
import { createNameMap, type NameMap } from "./property-names.ts";
import { asRootObject, hasChecks, mergeAll, orNull, typesOf, without } from "./schema-merge.ts";
import type { SchemaProfile } from "./schema-profile.ts";
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

const MAX_DEFS = 400;
const MAX_NOTES = 20;
const MAX_STRICT_DEPTH = 10;
const MAX_STRICT_PROPERTIES = 5_000;
const MAX_STRICT_ENUM = 1_000;
const OPEN_OBJECT: JsonObject = { type: "object", properties: {} };

/** @param schema the input schema as the server sent it. */
export function exportSchema(schema: JsonObject, profile: SchemaProfile): ExportedSchema {
  // A schema of an operator may be larger than what a server is allowed.
  const read = readDocument(schema, { ...DEFAULT_SCHEMA_BOUNDS, bytes: 1024 * 1024 }, undefined);
  if (!read.ok || !isCopiedObject(read.document.root)) {
    const reason = read.ok ? "it is no object" : read.refusal.reason;
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
  readonly #document: SchemaDocument;
  readonly #profile: SchemaProfile;
  readonly #names: NameMap;
  readonly #definitions = new Map<Copied, string>();
  readonly #waiting: { readonly name: string; readonly schema: Copied }[] = [];
  readonly #notes = new Set<string>();
  #isFaithful = true;
  #properties = 0;
  #enumValues = 0;

  constructor(document: SchemaDocument, profile: SchemaProfile) {
    this.#document = document;
    this.#profile = profile;
    this.#names = createNameMap(profile.propertyName);
  }

  run(root: CopiedObject): ExportedSchema {
    const schema = this.#asRoot(this.#node(root, 0), root);
    const definitions: JsonObject = {};
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
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
    const reference = this.#reference(schema);
    const hidesSiblings = this.#document.places.get(schema)?.resource.rules.refHidesSiblings === true;
    if (reference !== undefined && (hidesSiblings || !this.#profile.hasRefSiblings)) {
      if (!hidesSiblings && hasChecks(schema))
        this.#notes.add("what stands beside a `$ref` is checked but not shown");
      return { $ref: reference };
    }
    const exported: JsonObject = reference === undefined ? {} : { $ref: reference };
    const said: string[] = [];
    for (const keyword of Object.keys(schema)) this.#keyword(keyword, schema, exported, said, depth);
    this.#finish(schema, exported, said);
    return exported;
  }

  #reference(schema: CopiedObject): string | undefined {
    const target = [...(this.#document.targets.get(schema)?.values() ?? [])][0];
    if (target === undefined) return undefined;
    if (target.schema === this.#document.root) return "#";
    const known = this.#definitions.get(target.schema);
    if (known !== undefined) return `#/$defs/${known}`;
    if (this.#definitions.size >= MAX_DEFS) return undefined;
    const name = `d${this.#definitions.size + 1}`;
    this.#definitions.set(target.schema, name);
    this.#waiting.push({ name, schema: target.schema });
    return `#/$defs/${name}`;
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
          exported["required"] = [...new Set(value.map((name) => this.#names.replace(String(name))))];
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
        if (keywords.has("const")) exported["const"] = value as JsonValue;
        else this.#enum([value], schema, exported, said);
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
    const shown = value.map((item) => this.#node(item, depth + 1));
    const usual = keyword === "oneOf" && !keywords.has("oneOf") ? "anyOf" : keyword;
    if (keywords.has(usual)) {
      const before = exported[usual];
      if (before === undefined) exported[usual] = shown;
      else this.#notes.add(`\`${keyword}\` beside \`${usual}\` is checked but not shown`);
      return;
    }
    if (keyword === "allOf") {
      for (const part of shown) mergeAll(exported, part, this.#notes);
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
        ? dependency.map((other) => this.#names.replace(String(other)))
        : this.#node(dependency, depth + 1);
      const map = exported[keyword];
      exported[keyword] = { ...(isJsonObject(map) ? map : {}), [this.#names.replace(name)]: shown };
    }
  }

  #enum(value: readonly Copied[], schema: CopiedObject, exported: JsonObject, said: string[]): void {
    const { enumTypes, isStrict } = this.#profile;
    const isKnown = value.every((member) => enumTypes.has(member === null ? "null" : typeof member));
    const isUniform = new Set(value.map((member) => typeof member)).size === 1;
    if (value.length === 0 || !isKnown || (enumTypes.size < 4 && !isUniform)) {
      if (isStrict) this.#lose("an enum of objects has no strict form");
      said.push(inWords("enum", value as Copied[]));
      return;
    }
    this.#enumValues += value.length;
    const members = [...new Set(value)] as JsonValue[];
    exported["enum"] = members;
    // Providers want the type beside the values.
    if (schema["type"] === undefined && isUniform && value[0] !== null) {
      const isWhole = members.every((member) => Number.isInteger(member));
      exported["type"] = typeof value[0] === "number" ? (isWhole ? "integer" : "number") : typeof value[0];
    }
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
    if (SCHEMAS.has(keyword)) exported[keyword] = this.#orBoolean(value, depth);
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
    if (isStrict) this.#close(schema, exported, types);
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

  #close(schema: CopiedObject, exported: JsonObject, types: readonly string[]): void {
    const isObject = types.includes("object") || exported["properties"] !== undefined;
    if (!isObject) {
      if (
        types.length === 0 &&
        exported["anyOf"] === undefined &&
        exported["enum"] === undefined &&
        exported["const"] === undefined &&
        exported["$ref"] === undefined
      ) {
        this.#lose("it has a part without a type");
      }
      return;
    }
    const additional = schema["additionalProperties"];
    const names = isJsonObject(exported["properties"]) ? Object.keys(exported["properties"]) : [];
    // An object that names no properties is open on purpose; one that does is only seldom, and then nothing is lost by closing it.
    if (isCopiedObject(additional) || additional === true || (names.length === 0 && additional !== false)) {
      this.#lose("an open object has no strict form");
    }
    exported["properties"] ??= {};
    exported["required"] = names;
    exported["additionalProperties"] = false;
  }

  /** The root is a plain object everywhere, so a reference there is followed at once. */
  #asRoot(exported: JsonObject, root: CopiedObject): JsonObject {
    const target = [...(this.#document.targets.get(root)?.values() ?? [])][0]?.schema;
    const schema = without(exported, "$ref");
    if (isCopiedObject(target) && target !== root) mergeAll(schema, this.#node(target, 0), this.#notes);
    const rooted = asRootObject(without(schema, "$ref"), this.#profile.isStrict);
    if (rooted.note !== undefined) {
      if (this.#profile.isStrict) this.#lose(rooted.note);
      else this.#notes.add(rooted.note);
    }
    return rooted.schema;
  }
}

/** Keywords that hold one schema and pass as they are. */
const SCHEMAS = new Set([
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

function isPortablePattern(value: unknown): boolean {
  return typeof value === "string" && !/\(\?[=!<]/.test(value) && planPattern(value).ok;
}

function toJson(value: Copied): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
