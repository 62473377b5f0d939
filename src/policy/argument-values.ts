/**
 * The values that a dotted path in a rule names. A list on the way is entered, so `messages.to` names the `to` of each
 * message, and a list at the end is taken item by item; a property whose own name holds the dots goes first. Own properties
 * only, and bounded: what is too much to look at throws, which denies.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";

export interface LocatedValue {
  /** Property names and list positions from the root. */
  readonly steps: readonly (string | number)[];
  /** An empty list at the end of the path is given as it is. */
  readonly value: JsonValue;
}

const MAX_VALUES = 1_000;

/** @returns nothing where the path leads nowhere. @throws RangeError for more than 1,000 values. */
export function locateValues(args: JsonObject, path: string): readonly LocatedValue[] {
  const names = Object.hasOwn(args, path) ? [path] : path.split(".");
  let level: LocatedValue[] = [{ steps: [], value: args }];
  for (const name of names) {
    const next: LocatedValue[] = [];
    for (const holder of level.flatMap((one) => enterList(one, path))) {
      const member = isJsonObject(holder.value) ? ownProperty(holder.value, name) : undefined;
      if (member !== undefined) next.push({ steps: [...holder.steps, name], value: member as JsonValue });
    }
    level = next;
  }
  const values = level.flatMap((one) => enterList(one, path));
  if (values.length > MAX_VALUES) throw tooMany(path);
  return values;
}

function enterList(one: LocatedValue, path: string): readonly LocatedValue[] {
  const list = one.value;
  if (!Array.isArray(list) || list.length === 0) return [one];
  if (list.length > MAX_VALUES) throw tooMany(path);
  return list.map((value, index) => ({ steps: [...one.steps, index], value }));
}

function tooMany(path: string): RangeError {
  return new RangeError(`argument \`${path}\` holds more than ${MAX_VALUES} values`);
}

/** A copy of `args` with another value at `steps`; nothing given is written to. */
export function replaceValue(
  args: JsonObject,
  steps: readonly (string | number)[],
  value: JsonValue,
): JsonObject {
  return replaceIn(args, steps, value) as JsonObject;
}

function replaceIn(
  holder: JsonValue,
  [step, ...rest]: readonly (string | number)[],
  value: JsonValue,
): JsonValue {
  if (step === undefined) return value;
  if (Array.isArray(holder))
    return holder.map((item, index) => (index === step ? replaceIn(item, rest, value) : item));
  if (!isJsonObject(holder)) throw new RangeError("the path does not lead into the arguments");
  // Entries, not an assignment: a property named `__proto__` stays an ordinary one.
  return Object.fromEntries(
    Object.entries(holder).map(([name, member]) => [
      name,
      name === step ? replaceIn(member, rest, value) : member,
    ]),
  );
}
