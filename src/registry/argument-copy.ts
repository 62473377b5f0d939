/** A copy of arguments that holds nothing but JSON, bounded in size and depth, with `__proto__` as an ordinary name. */
import { setMember, type JsonObject, type JsonValue } from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import type { Issue } from "../jsonschema/issues.ts";
import { pathOf } from "../jsonschema/issues.ts";

export type CopiedArguments =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      /** Values in it, at every level. */
      readonly count: number;
    }
  | { readonly ok: false; readonly issue: Issue };

const MAX_DEPTH = 128;
const MAX_VALUES = 200_000;
/** Of one object: only to list the names of a much larger one holds the event loop too long, and every check lists them. */
const MAX_MEMBERS = 50_000;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Copies `input`; members that are `undefined` are left out, as JSON does. Refuses what JSON cannot say. */
export function copyArguments(input: object): CopiedArguments {
  return atOnce(argumentsCopy(input));
}

/** Values that are copied without a pause: a millisecond or two of them. */
const SLICE = 5_000;

/** `copyArguments` in slices, where there are many values. */
export function* argumentsCopy(input: object): Sliced<CopiedArguments> {
  const copying = new Copying(input);
  while (!copying.goOn(SLICE)) yield;
  return copying.result();
}

/** A container that is being copied. */
interface Level {
  readonly source: Readonly<Record<string | number, unknown>>;
  readonly list: JsonValue[] | null;
  readonly object: JsonObject | null;
  /** Of an object. */
  readonly names: readonly string[];
  readonly length: number;
  at: number;
}

/** One copy, level by level instead of by recursion, so that it can be left and gone on with. */
class Copying {
  readonly #root: JsonObject = {};
  readonly #levels: Level[] = [];
  #values = 0;
  #issue: Issue | undefined;

  constructor(input: object) {
    if (isPlain(input)) this.#enterObject(input, this.#root);
    else this.#refuse("is no plain object", "a JSON object with the arguments");
  }

  result(): CopiedArguments {
    return this.#issue === undefined
      ? { ok: true, value: this.#root, count: this.#values }
      : { ok: false, issue: this.#issue };
  }

  /** @returns whether all is copied, or refused. */
  goOn(count: number): boolean {
    let left = count;
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      if (level.at >= level.length) {
        this.#levels.pop();
        continue;
      }
      if (left <= 0) return false;
      left -= 1;
      this.#copyNext(level);
      if (this.#issue !== undefined) return true;
    }
    return true;
  }

  #copyNext(level: Level): void {
    const at = level.at;
    level.at += 1;
    const name = level.names[at] ?? "";
    const member = level.source[level.list === null ? name : at];
    // A list keeps its places.
    if (member === undefined && level.list === null) return;
    const copied = member === undefined ? null : this.#copy(member);
    if (level.list !== null) level.list.push(copied);
    else if (level.object !== null) setMember(level.object, name, copied);
  }

  /** A container is there at once and filled afterwards. */
  #copy(value: unknown): JsonValue {
    this.#values += 1;
    if (this.#values > MAX_VALUES) return this.#refuse(`has more than ${MAX_VALUES} values`, "fewer values");
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : this.#refuse(`is ${value}`, "a finite number");
      case "object":
        break;
      default:
        return this.#refuse(`is a ${typeof value}`, "a JSON value");
    }
    if (value === null) return null;
    if (this.#levels.length >= MAX_DEPTH)
      return this.#refuse(`is nested deeper than ${MAX_DEPTH}`, "flatter values");
    if (Array.isArray(value)) return this.#enterList(value);
    return isPlain(value) ? this.#enterObject(value, {}) : this.#refuse("is no plain object", "a JSON value");
  }

  #enterList(source: readonly unknown[]): JsonValue[] {
    const list: JsonValue[] = [];
    this.#levels.push({
      source: source as unknown as Level["source"],
      list,
      object: null,
      names: NO_NAMES,
      length: source.length,
      at: 0,
    });
    return list;
  }

  #enterObject(source: object, object: JsonObject): JsonObject {
    const names = Object.keys(source);
    if (names.length > MAX_MEMBERS) this.#refuse(`has more than ${MAX_MEMBERS} members`, "fewer members");
    this.#levels.push({
      source: source as Level["source"],
      list: null,
      object,
      names,
      length: names.length,
      at: 0,
    });
    return object;
  }

  #refuse(message: string, expected: string): null {
    const path = this.#levels.map(({ list, names, at }) => (list === null ? (names[at - 1] ?? "") : at - 1));
    this.#issue ??= { path: pathOf(path), keyword: "json", message, expected };
    return null;
  }
}

const NO_NAMES: readonly string[] = [];
