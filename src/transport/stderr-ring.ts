/**
 * The last bytes that a server wrote to stderr. Every byte is taken, so that the server never blocks for good on a full
 * pipe; only the tail is kept. What stands there is never a failure by itself and never protocol (STDIO-03).
 */
import { cleanForPerson } from "../text/clean.ts";

export interface StderrRing {
  push(chunk: Buffer): void;
  /** The last lines, at most `maxLength` characters (default 4,096), secrets out and control characters visible. */
  tail(maxLength?: number): string;
  /** All bytes that came, also those that were dropped since. */
  totalBytes(): number;
}

/**
 * @param capacity bytes that are kept; the memory is taken with the first byte.
 * @param redact takes secrets out; it sees all that is kept, so that the cut of a tail never hides half a secret from it.
 */
export function createStderrRing(capacity: number, redact: (text: string) => string): StderrRing {
  let ring: Buffer | undefined;
  let next = 0;
  let total = 0;

  const readKept = (): string => {
    if (ring === undefined) return "";
    if (total <= capacity) return ring.toString("utf8", 0, total);
    const kept = Buffer.concat([ring.subarray(next), ring.subarray(0, next)]);
    // The oldest character may have been cut: at most three bytes of it remain.
    let start = 0;
    while (start < 3 && ((kept[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return kept.toString("utf8", start);
  };

  return {
    push(chunk) {
      total += chunk.length;
      if (capacity <= 0) return;
      ring ??= Buffer.alloc(capacity);
      const part = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk;
      const first = part.copy(ring, next);
      if (first < part.length) part.copy(ring, 0, first);
      next = (next + part.length) % capacity;
    },
    tail(maxLength = 4_096) {
      const text = cleanForPerson(redact(readKept())).trim();
      if (text.length <= maxLength) return text;
      const cut = text.slice(text.length - maxLength);
      const newline = cut.indexOf("\n");
      return newline < 0 ? cut : cut.slice(newline + 1);
    },
    totalBytes: () => total,
  };
}
