/** Escapes that are read through: `\\n`, `\\u0069` (JSON), `%20` (URL), `&#105;` (HTML). */

/** The code unit that an escape at `at` stands for, and how many more code units it is long in the bits from 21; 0: no escape. */
export function readEscape(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (sign === 0x5c) {
    // \n \r \t are blanks; \uXXXX is a letter.
    if (next === 0x6e || next === 0x72) return (1 << 21) | 0x0a;
    if (next === 0x74) return (1 << 21) | 0x20;
    if (next === 0x75) return hexAt(text, at + 2, 4, 5);
    return 0;
  }
  if (sign === 0x25) return hexAt(text, at + 1, 2, 2);
  if (next !== 0x23) return 0;
  const match = /^&#(?:x([0-9a-f]{1,5})|(\d{1,6}));/i.exec(text.slice(at, at + 12));
  if (match === null) return 0;
  const value = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  return value > 0xffff ? ((match[0].length - 1) << 21) | 0x20 : ((match[0].length - 1) << 21) | value;
}

function hexAt(text: string, from: number, digits: number, extra: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at += 1) {
    const code = text.charCodeAt(at);
    const digit =
      code >= 0x30 && code <= 0x39
        ? code - 0x30
        : (code | 32) >= 0x61 && (code | 32) <= 0x66
          ? (code | 32) - 0x57
          : -1;
    if (digit < 0) return 0;
    value = value * 16 + digit;
  }
  return (extra << 21) | value;
}
