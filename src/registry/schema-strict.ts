/** OpenAI's strict form of an object: closed, with all its properties required ("Structured outputs"). */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { isCopiedObject, type CopiedObject } from "../jsonschema/bounds.ts";
import { hasKind } from "./schema-values.ts";

export const MAX_STRICT_DEPTH = 10;
export const MAX_STRICT_PROPERTIES = 5_000;
export const MAX_STRICT_ENUM = 1_000;

/**
 * Closes what is exported of `schema`.
 *
 * @param types of `exported`.
 * @returns what the strict form cannot say, where there is something.
 */
export function closeStrictly(
  schema: CopiedObject,
  exported: JsonObject,
  types: readonly string[],
): string | undefined {
  const isObject = types.includes("object") || exported["properties"] !== undefined;
  if (!isObject) return hasKind(exported) ? undefined : "it has a part without a type";
  const additional = schema["additionalProperties"];
  const names = isJsonObject(exported["properties"]) ? Object.keys(exported["properties"]) : [];
  // An object that names no properties is open on purpose; one that does is only seldom, and then nothing is lost by closing it.
  const isOpen =
    isCopiedObject(additional) || additional === true || (names.length === 0 && additional !== false);
  exported["properties"] ??= {};
  exported["required"] = names;
  exported["additionalProperties"] = false;
  return isOpen ? "an open object has no strict form" : undefined;
}
