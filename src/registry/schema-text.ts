/** The texts inside a schema that a model reads: descriptions, titles, names, values. For the scan, and cleaned for models. */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Copied } from "../jsonschema/bounds.ts";
import { pointerStep } from "../jsonschema/uri.ts";
import { cleanForModel, clip } from "../text/clean.ts";

export interface SchemaText {
  readonly where: string;
  readonly text: string;
}

const MAX_TEXTS = 5_000;
const MAX_DEPTH = 256;

/**
 * Every string and every member name in a schema, with the JSON pointer of where it stands. Names of keywords are left out.
 *
 * @param where pointer of the schema itself, for example `/inputSchema`.
 */
export function collectSchemaTexts(schema: JsonValue, where: string): readonly SchemaText[] {
  const texts: SchemaText[] = [];
  const visit = (value: JsonValue, at: string, depth: number): void => {
    if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
    if (typeof value === "string") {
      // Names of types and short values of enums give no orders.
      if (value.length > 12) texts.push({ where: at, text: value });
      return;
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, at + pointerStep(index), depth + 1);
    } else if (isJsonObject(value)) {
      for (const name of Object.keys(value)) {
        const next = at + pointerStep(name);
        if (name.length > 24) texts.push({ where: next, text: name });
        visit(value[name] ?? null, next, depth + 1);
      }
    }
  };
  visit(schema, where, 0);
  return texts;
}

/** Keywords whose text is for reading only: nothing depends on its letters. */
const READ_ONLY = new Set(["description", "title", "$comment"]);
/** Keywords whose values a model reads, and gives back letter for letter. */
const VALUES = new Set(["enum", "const", "default", "examples", "example"]);
const MAX_MODEL_TEXT = 4_000;

/**
 * The schema with its descriptions and titles cleaned for a model. Names and values stay letter for letter, because they go back
 * to the server as arguments; a value that holds hidden characters is left out, and our own check still takes it.
 *
 * @returns the schema itself where there is nothing to clean.
 */
export function cleanSchemaForModel(schema: JsonObject): JsonObject {
  const cleaned = clean(schema, 0);
  return isJsonObject(cleaned) ? cleaned : schema;
}

function clean(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => clean(item, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  let copy: JsonObject | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    const isText = typeof member === "string" && READ_ONLY.has(name);
    const isValue = VALUES.has(name) && !isJsonObject(member);
    const cleaned = isText
      ? clip(cleanForModel(member), MAX_MODEL_TEXT)
      : isValue
        ? showableValues(member)
        : clean(member, depth + 1);
    if (cleaned === member) continue;
    copy ??= copyObject(value);
    if (cleaned === undefined) {
      delete copy[name];
      continue;
    }
    Object.defineProperty(copy, name, {
      value: cleaned,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy ?? value;
}

/** `value` without what holds hidden characters; `undefined` where nothing is left. */
export function showableValues<Value extends JsonValue | Copied>(value: Value): Value | undefined {
  if (!Array.isArray(value)) return isShowable(value, 0) ? value : undefined;
  const members = value as readonly (JsonValue | Copied)[];
  const kept = members.filter((member) => isShowable(member, 0));
  if (kept.length === members.length) return value;
  return kept.length === 0 ? undefined : (kept as unknown as Value);
}

function isShowable(value: JsonValue | Copied | undefined, depth: number): boolean {
  if (typeof value === "string") return cleanForModel(value) === value;
  if (typeof value !== "object" || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((member) => isShowable(member, depth + 1));
}

function copyObject(value: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) {
    Object.defineProperty(copy, name, {
      value: value[name],
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}
