/** Randomness as an argument. */
import { randomBytes, randomFillSync } from "node:crypto";

export interface Random {
  /** A number in [0, 1): for jitter, never for secrets. */
  fraction(): number;
  /** `byteCount` unpredictable bytes. */
  bytes(byteCount: number): Buffer;
}

/** Small requests are served from a pool: asking the operating system costs more than an id is worth. */
const pool = Buffer.alloc(4_096);
let poolUsed = pool.length;

function takeFromPool(byteCount: number): Buffer {
  if (poolUsed + byteCount > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  const piece = pool.subarray(poolUsed, (poolUsed += byteCount));
  const bytes = Buffer.from(piece);
  // What was given away is a secret of its taker: no copy stays here.
  piece.fill(0);
  return bytes;
}

export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (byteCount) => (byteCount <= 64 ? takeFromPool(byteCount) : randomBytes(byteCount)),
};

/** A random id of `byteCount` bytes (default 12) in base64url: 16 characters of `[A-Za-z0-9_-]`. */
export function randomId(random: Random, byteCount = 12): string {
  return random.bytes(byteCount).toString("base64url");
}

/**
 * A random id that begins with its time (20 characters of `[A-Za-z0-9_-]`): ids of about the same time stand together in an
 * index, so that a log of millions grows at one place instead of everywhere. 72 bits of it are random.
 */
export function timedId(random: Random, nowMs: number): string {
  const ms = Math.floor(nowMs) % 2 ** 48;
  if (ms !== timeMs) {
    const time = Buffer.allocUnsafe(6);
    time.writeUIntBE(ms, 0, 6);
    timeText = time.toString("base64url");
    timeMs = ms;
  }
  // Every call takes one: characters out of a pool of text, and no buffer of its own.
  return timeText + (random === systemRandom ? takeText() : random.bytes(TEXT_BYTES).toString("base64url"));
}

const TEXT_BYTES = 9;
/** Nine bytes are twelve characters, without a rest. */
const TEXT_LENGTH = 12;
const TEXTS_IN_POOL = 340;
let timeMs = Number.NaN;
let timeText = "";
let textPool = "";
let textUsed = 0;

/** 72 random bits as text. */
function takeText(): string {
  if (textUsed === textPool.length) {
    textPool = randomBytes(TEXTS_IN_POOL * TEXT_BYTES).toString("base64url");
    textUsed = 0;
  }
  return textPool.slice(textUsed, (textUsed += TEXT_LENGTH));
}

/** The time with which an id of `timedId` begins, milliseconds since the epoch; `undefined` for what is no such id. */
export function timeOfId(id: string): number | undefined {
  if (id.length !== 20 || !/^[A-Za-z0-9_-]+$/.test(id)) return undefined;
  return Buffer.from(id.slice(0, 8), "base64url").readUIntBE(0, 6);
}

/** A repeatable source (mulberry32) for tests and simulations; its bytes are predictable. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    bytes: (byteCount) => Buffer.from(Array.from({ length: byteCount }, () => Math.floor(fraction() * 256))),
  };
}
