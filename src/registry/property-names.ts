/** Names of properties that a provider does not take, renamed and renamed back. */
import { createHash } from "node:crypto";
import { setMember } from "../base/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

export interface NameMap {
  /** `name` itself where it is allowed. The same name gives the same replacement, always. */
  replace(name: string): string;
  /** A value with all replaced names put back, at every level; the value itself where nothing was replaced. */
  restore(value: unknown): unknown;
}

const MAX_DEPTH = 128;

export function createNameMap(allowed: RegExp): NameMap {
  const originals = new Map<string, string>();

  const restore = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item) => restore(item, depth + 1));
    if (!isJsonObject(value)) return value;
    const restored: JsonObject = {};
    for (const name of Object.keys(value)) {
      setMember(restored, originals.get(name) ?? name, restore(value[name], depth + 1) as JsonValue);
    }
    return restored;
  };

  return {
    replace(name) {
      // `__proto__` could not be a member of the object literals that SDKs build.
      if (allowed.test(name) && name !== "__proto__") return name;
      const readable = name
        .replaceAll(/[^A-Za-z0-9]+/g, "_")
        .slice(0, 40)
        .replaceAll(/^_+|_+$/g, "");
      const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
      const replacement = `${readable === "" ? "p" : readable}_${hash}`;
      originals.set(replacement, name);
      return replacement;
    },
    restore: (value) => (originals.size === 0 ? value : restore(value, 0)),
  };
}
