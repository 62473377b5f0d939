/**
 * Keys as a database takes them. Names of tools come from servers and may hold anything, but text columns do not take it:
 * NUL ends a text for some, half a surrogate pair is replaced. Both are written out here, so that two keys never become one.
 * Order and prefixes stay as they are.
 */

const ESCAPE = "\u0001";
const NUL = "\u0001\u0001";
const ESCAPED_ESCAPE = "\u0001\u0002";
const HALF = "\u0001\u0003";

// oxlint-disable-next-line no-control-regex -- these two are what must not reach the database.
const SPECIAL = /[\u0000\u0001]|\p{Surrogate}/gu;
// oxlint-disable-next-line no-control-regex -- the escapes that `toStoredKey` writes.
const STORED = /\u0001(?:\u0001|\u0002|\u0003([0-9a-f]{4}))/g;

/** `key` without NUL and without halves of surrogate pairs. */
export function toStoredKey(key: string): string {
  return key.replace(SPECIAL, (found) => {
    if (found === "\u0000") return NUL;
    return found === ESCAPE ? ESCAPED_ESCAPE : `${HALF}${found.charCodeAt(0).toString(16)}`;
  });
}

/** The key that `toStoredKey` was given. */
export function fromStoredKey(stored: string): string {
  return stored.replace(STORED, (found, half: string | undefined) => {
    if (half !== undefined) return String.fromCharCode(Number.parseInt(half, 16));
    return found === NUL ? "\u0000" : ESCAPE;
  });
}
