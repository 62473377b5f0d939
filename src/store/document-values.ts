/** What any store checks of a document before it writes it. */
import type { JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Collection } from "./store.ts";

/** More than any page of a result or a catalog; a document is read and written as a whole. */
const MAX_VALUE_CHARACTERS = 64 * 1024 * 1024;
const MAX_KEY_CHARACTERS = 4096;

/** @throws `internal` for a key that is too long. */
export function checkKey(key: string): void {
  if (key.length <= MAX_KEY_CHARACTERS) return;
  throw new PortcullisError("internal", `a key of the store has at most ${MAX_KEY_CHARACTERS} characters`);
}

/** `value` as it is stored. @throws `internal` for what is no JSON, or too large. */
export function toValueText(value: JsonValue, collection: Collection, key: string): string {
  const text: string | undefined = JSON.stringify(value);
  if (text !== undefined && text.length <= MAX_VALUE_CHARACTERS) return text;
  const problem = text === undefined ? "is not JSON" : `is larger than ${MAX_VALUE_CHARACTERS} characters`;
  throw new PortcullisError("internal", `document \`${key}\` of \`${collection}\` ${problem}`);
}
