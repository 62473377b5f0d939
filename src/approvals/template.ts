/**
 * Arguments made of an operator's template: a text `$result.a.b` or `$arguments.a` stands for that value, with its type; `$$`
 * for a dollar sign. Everything else stands for itself.
 */
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { valueAt } from "./argument-path.ts";
import type { ArgumentOrigin } from "./details.ts";

export interface FilledTemplate {
  readonly value: JsonValue;
  /** References that led nowhere, as they were written. */
  readonly missing: readonly string[];
  /** Which of the values did not come from the caller's arguments. */
  readonly origins: readonly ArgumentOrigin[];
}

const MAX_DEPTH = 16;

/** @param originOf says where values of a root came from; `null`: not worth saying. */
export function fillTemplate(
  template: JsonValue,
  roots: Readonly<Record<string, JsonValue | undefined>>,
  originOf: (root: string) => string | null = () => null,
): FilledTemplate {
  const missing: string[] = [];
  const origins: ArgumentOrigin[] = [];
  const fill = (part: JsonValue, where: string, depth: number): JsonValue => {
    if (depth > MAX_DEPTH) return null;
    if (typeof part === "string") {
      const reference = /^\$(result|arguments)(?:\.(.+))?$/u.exec(part);
      if (reference === null) return part.startsWith("$$") ? part.slice(1) : part;
      const [, root = "", path] = reference;
      const value = path === undefined ? roots[root] : valueAt(roots[root], path);
      const message = originOf(root);
      if (value === undefined) missing.push(part);
      else if (message !== null) origins.push({ where, message });
      return value ?? null;
    }
    if (Array.isArray(part)) return part.map((item, index) => fill(item, `${where}/${index}`, depth + 1));
    if (!isJsonObject(part)) return part;
    const members = Object.entries(part).map(([name, value]) => [
      name,
      fill(value, `${where}/${name}`, depth + 1),
    ]);
    return Object.fromEntries(members) as JsonValue;
  };
  return { value: fill(template, "", 0), missing, origins };
}
