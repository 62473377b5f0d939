/**
 * The last bytes that a server wrote to stderr. Every byte is taken at once, so that the server never blocks on a full
 * pipe; only the tail is kept. What stands there is never a failure by itself and never protocol (STDIO-03).
 */
import { cleanForPerson } from "../text/clean.ts";

export interface StderrRing {
  push(chunk: Buffer): void;
  /** The last text, at most `maxBytes` (default 4,096) bytes of it, decoded, control characters made visible. */
  tail(maxBytes?: number): string;
  /** All bytes that came, also those that were dropped since. */
  totalBytes(): number;
}

/** @param capacity bytes that are kept; the memory is taken with the first byte. */
export function createStderrRing(capacity: number): StderrRing {
  let ring: Buffer | undefined;
  let next = 0;
  let total = 0;

  const isContinuationByte = (byte: number | undefined): boolean =>
    byte !== undefined && (byte & 0xc0) === 0x80;

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
    tail(maxBytes = 4_096) {
      if (ring === undefined) return "";
      const isFull = total > capacity;
      const kept = isFull
        ? Buffer.concat([ring.subarray(next), ring.subarray(0, next)])
        : ring.subarray(0, total);
      let start = Math.max(0, kept.length - Math.max(0, maxBytes));
      // The cut may fall into a character: at most three bytes of it remain.
      if (start > 0 || isFull)
        for (let at = 0; at < 3 && isContinuationByte(kept[start]); at += 1) start += 1;
      return cleanForPerson(kept.toString("utf8", start)).trim();
    },
    totalBytes: () => total,
  };
}
