/** A copy of arguments that holds nothing but JSON, bounded in size and depth, with `__proto__` as an ordinary name. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Issue } from "../jsonschema/issues.ts";
import { pathOf } from "../jsonschema/issues.ts";

export type CopiedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly issue: Issue };

const MAX_DEPTH = 128;
const MAX_VALUES = 200_000;

/** Sets a member whatever its name is. */
export function setMember(target: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Copies `input`; members that are `undefined` are left out, as JSON does. Refuses what JSON cannot say. */
export function copyArguments(input: object): CopiedArguments {
  const path: (string | number)[] = [];
  let values = 0;
  let issue: Issue | undefined;

  const refuse = (message: string, expected: string): null => {
    issue ??= { path: pathOf(path), keyword: "json", message, expected };
    return null;
  };
  const copy = (value: unknown): JsonValue => {
    values += 1;
    if (values > MAX_VALUES) return refuse(`has more than ${MAX_VALUES} values`, "fewer values");
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : refuse(`is ${value}`, "a finite number");
      case "object":
        break;
      default:
        return refuse(`is a ${typeof value}`, "a JSON value");
    }
    if (value === null) return null;
    if (path.length >= MAX_DEPTH) return refuse(`is nested deeper than ${MAX_DEPTH}`, "flatter values");
    if (Array.isArray(value)) return copyList(value);
    return isPlain(value) ? copyObject(value) : refuse("is no plain object", "a JSON value");
  };
  const copyList = (list: readonly unknown[]): JsonValue => {
    const copied: JsonValue[] = [];
    for (let at = 0; at < list.length && issue === undefined; at += 1) {
      path.push(at);
      copied.push(list[at] === undefined ? null : copy(list[at]));
      path.pop();
    }
    return copied;
  };
  const copyObject = (object: object): JsonObject => {
    const copied: JsonObject = {};
    for (const name of Object.keys(object)) {
      const member = (object as Record<string, unknown>)[name];
      if (member === undefined) continue;
      if (issue !== undefined) break;
      path.push(name);
      setMember(copied, name, copy(member));
      path.pop();
    }
    return copied;
  };

  const value = isPlain(input) ? copyObject(input) : {};
  if (!isPlain(input)) refuse("is no plain object", "a JSON object with the arguments");
  return issue === undefined ? { ok: true, value } : { ok: false, issue };
}
