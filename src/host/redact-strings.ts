/** Known secrets taken out of every text in a value; whatever holds none stays the very same value. */

/** Deeper than anything that is taken in from a server; what lies deeper is refused elsewhere. */
const MAX_DEPTH = 512;

/** @param redact one text; must give the same text back where there is nothing to take out. Names of members are texts too. */
export function redactStrings<Value>(value: Value, redact: (text: string) => string, depth = 0): Value {
  return redactAny(value, redact, depth) as Value;
}

function redactAny(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => redactAny(item, redact, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  let isSame = true;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const redacted: [string, unknown] = [redact(name), redactAny(member, redact, depth + 1)];
    if (redacted[0] !== name || redacted[1] !== member) isSame = false;
    return redacted;
  });
  return isSame ? value : Object.fromEntries(members);
}
