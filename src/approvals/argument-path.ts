/** Dotted paths into arguments, own properties only, and the list argument that is shown item by item. */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";

/** A longer list is not shown item by item. */
const MAX_ITEMS = 1_000;

/** The value under a dotted path (`a.b`, list items by number); a property whose own name holds the dots goes first. */
export function valueAt(root: JsonValue | undefined, path: string): JsonValue | undefined {
  if (isJsonObject(root) && Object.hasOwn(root, path)) return root[path];
  let value: JsonValue | undefined = root;
  for (const name of path.split(".")) {
    if (Array.isArray(value)) value = /^\d{1,6}$/.test(name) ? value[Number(name)] : undefined;
    else if (isJsonObject(value)) value = ownProperty(value, name) as JsonValue | undefined;
    else return undefined;
  }
  return value;
}

/** The list under `path`, where there is one that can be shown item by item. */
export function itemsAt(args: JsonObject, path: string | null): readonly JsonValue[] | null {
  if (path === null) return null;
  const value = valueAt(args, path);
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_ITEMS ? value : null;
}

/** A copy of the arguments without some items of the list under `path` (counted from 0). Nothing given is written to. */
export function withoutItems(args: JsonObject, path: string, indexes: readonly number[]): JsonObject {
  const list = itemsAt(args, path);
  if (list === null) throw new RangeError(`argument \`${path}\` holds no list`);
  const out = new Set(indexes);
  return replaceAt(
    args,
    path,
    list.filter((_item, index) => !out.has(index)),
  );
}

function replaceAt(root: JsonObject, path: string, replacement: JsonValue): JsonObject {
  if (Object.hasOwn(root, path)) return { ...root, [path]: replacement };
  const dot = path.indexOf(".");
  const name = path.slice(0, dot);
  const child = ownProperty(root, name);
  if (dot < 0 || !isJsonObject(child))
    throw new RangeError(`argument \`${path}\` is not inside plain objects`);
  return { ...root, [name]: replaceAt(child, path.slice(dot + 1), replacement) };
}
