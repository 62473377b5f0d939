/**
 * Newline framing as a pure state machine: chunks of bytes in, lines of text out. It knows nothing of what the lines say.
 *
 * Invariants:
 * - the work is linear in the bytes, however they are split;
 * - what is held is at most `maxLineBytes` plus one chunk plus one block, also when the bytes come one at a time;
 * - any split of the same bytes gives the same lines.
 *
 * Tolerated and counted: a byte order mark, CRLF, white space around a line, blank lines, invalid UTF-8 (replaced by
 * U+FFFD), a last line without its newline. A line over the cap ends the framer: one `overflow` line, then nothing more.
 */
import { decodeUtf8 } from "./utf8.ts";

/** One line, or the end of the framer because a line was too long. */
export type Line =
  | {
      readonly kind: "line";
      /** Decoded, without the newline, a byte order mark and white space at either end; never empty. */
      readonly text: string;
      /** Bytes of the line as they came, without the newline. */
      readonly byteLength: number;
      readonly hasInvalidUtf8: boolean;
    }
  | {
      readonly kind: "overflow";
      /** Bytes of the line seen so far: over the cap. */
      readonly byteLength: number;
      /** The first bytes of the line, at most 200, decoded. Not cleaned. */
      readonly sample: string;
    };

export interface LineCounts {
  readonly bytes: number;
  readonly lines: number;
  readonly blankLines: number;
  /** Lines with a byte order mark, CRLF or white space around them. */
  readonly paddedLines: number;
  readonly invalidUtf8Lines: number;
}

export interface LineFramer {
  /** Takes the next bytes and returns the lines that they complete, in order. The chunk must not be written to afterwards. */
  push(chunk: Buffer): Line[];
  /** The stream is over: returns the last line where it had no newline. Later bytes are dropped. */
  end(): Line[];
  /** Bytes of a line that is not complete yet. */
  readonly heldBytes: number;
  counts(): LineCounts;
}

const NEWLINE = 0x0a;
const SAMPLE_BYTES = 200;
/** Chunks smaller than this are copied into blocks, so that a byte at a time does not cost a Buffer object per byte. */
const SMALL_CHUNK_BYTES = 2_048;
const BLOCK_BYTES = 16_384;

/** @param options.maxLineBytes cap on one line in bytes, without its newline. */
export function createLineFramer(options: { readonly maxLineBytes: number }): LineFramer {
  const { maxLineBytes } = options;
  const counts = { bytes: 0, lines: 0, blankLines: 0, paddedLines: 0, invalidUtf8Lines: 0 };
  let parts: Buffer[] = [];
  let heldBytes = 0;
  let block: Buffer | undefined;
  let blockUsed = 0;
  let isOver = false;

  const forget = (): void => {
    parts = [];
    heldBytes = 0;
    block = undefined;
    blockUsed = 0;
  };

  const hold = (part: Buffer): void => {
    heldBytes += part.length;
    if (part.length >= SMALL_CHUNK_BYTES) {
      sealBlock();
      parts.push(part);
      return;
    }
    if (block !== undefined && blockUsed + part.length > block.length) sealBlock();
    block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    part.copy(block, blockUsed);
    blockUsed += part.length;
  };

  const sealBlock = (): void => {
    if (block !== undefined) parts.push(block.subarray(0, blockUsed));
    block = undefined;
    blockUsed = 0;
  };

  /** The bytes held, followed by `rest`. */
  const take = (rest: Buffer): Buffer => {
    if (heldBytes === 0) return rest;
    sealBlock();
    const bytes = Buffer.concat([...parts, rest], heldBytes + rest.length);
    forget();
    return bytes;
  };

  const overflow = (rest: Buffer): Line => {
    isOver = true;
    const byteLength = heldBytes + rest.length;
    sealBlock();
    const head = Buffer.concat([...parts.slice(0, 2), rest].map((part) => part.subarray(0, SAMPLE_BYTES)));
    forget();
    return { kind: "overflow", byteLength, sample: head.toString("utf8", 0, SAMPLE_BYTES) };
  };

  const decode = (bytes: Buffer, lines: Line[]): void => {
    const { text: raw, hasInvalidUtf8 } = decodeUtf8(bytes);
    const text = raw.trim();
    if (text.length === 0) {
      counts.blankLines += 1;
      return;
    }
    counts.lines += 1;
    if (text.length !== raw.length) counts.paddedLines += 1;
    if (hasInvalidUtf8) counts.invalidUtf8Lines += 1;
    lines.push({ kind: "line", text, byteLength: bytes.length, hasInvalidUtf8 });
  };

  return {
    push(chunk) {
      const lines: Line[] = [];
      if (isOver) return lines;
      counts.bytes += chunk.length;
      let start = 0;
      while (start < chunk.length) {
        if (heldBytes === 0 && chunk[start] === NEWLINE) {
          counts.blankLines += 1;
          start += 1;
          continue;
        }
        const newline = chunk.indexOf(NEWLINE, start);
        const part = chunk.subarray(start, newline < 0 ? chunk.length : newline);
        if (heldBytes + part.length > maxLineBytes) {
          lines.push(overflow(part));
          return lines;
        }
        if (newline < 0) {
          hold(part);
          return lines;
        }
        decode(take(part), lines);
        start = newline + 1;
      }
      return lines;
    },
    end() {
      const lines: Line[] = [];
      if (!isOver && heldBytes > 0) decode(take(Buffer.alloc(0)), lines);
      isOver = true;
      return lines;
    },
    get heldBytes() {
      return heldBytes;
    },
    counts: () => ({ ...counts }),
  };
}
