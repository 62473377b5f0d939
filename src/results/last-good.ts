/**
 * The last good result of read-only tools, for the time when their server cannot be reached. Collection `last-good`.
 *
 * What is kept is the raw result: on use it goes through intake and scan again, with the rules of that day. Sealed; bounded by
 * construction, because each connection has a fixed number of places and a result may only take the place that its key falls on.
 *
 * A call pays for a place in memory and nothing else: sealing and writing come later, a few at a time. What has to make room
 * in memory before it was written is forgotten; there were newer ones by then.
 */
import { hash } from "node:crypto";
import type { Clock, Timer } from "../base/clock.ts";
import { isJsonObject, parseJson, type JsonValue } from "../base/json.ts";
import type { Documents } from "../store/store.ts";
import { connectionId, type ConnectionKey, type Principal } from "../vocabulary.ts";
import type { Sealer } from "./sealer.ts";
import { measureJson, STRUCTURED_LIMITS } from "./structured.ts";

export interface LastGoodKey {
  readonly connection: ConnectionKey;
  readonly principal: Principal;
  readonly tool: string;
  /** The arguments as they were sent: their canonical text, or a digest where that is long. */
  readonly arguments: string;
  /** Pin of the tool's definition: another definition, another key. */
  readonly pin: string;
}

interface LastGoodResult {
  /** As the server sent it, still to be taken in. */
  readonly raw: JsonValue;
  /** Milliseconds since the epoch. */
  readonly asOf: number;
}

export interface LastGood {
  /**
   * Remembers a completed result of an L0 tool: in memory at once, in the store within some seconds, at most every
   * `persistEveryMs` for the same key. What is too large is not kept, and replaces nothing.
   */
  remember(key: LastGoodKey, raw: JsonValue): void;
  /** @param maxAgeMs older ones are as good as none. */
  recall(key: LastGoodKey, maxAgeMs: number): Promise<LastGoodResult | undefined>;
  /** Writes what is in memory only, and waits for what is being written. Until then a timer may run. */
  flush(): Promise<void>;
}

export interface LastGoodOptions {
  readonly documents: Pick<Documents, "get" | "put">;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Characters of one result. Default 131,072. */
  readonly maxCharacters?: number;
  /** Places per connection in the store. Default 256. */
  readonly places?: number;
  /** Results in memory, over all connections. Default 256. */
  readonly inMemory?: number;
  /** Kept no longer than this. Default 24 hours. */
  readonly maxAgeMs?: number;
  /** Default 60,000. */
  readonly persistEveryMs?: number;
  /** Told about writes that failed; the result stays in memory and is written again later. */
  readonly onFault?: (error: unknown) => void;
}

interface Held {
  readonly key: LastGoodKey;
  readonly raw: JsonValue;
  readonly asOf: number;
  /** Monotonic time of the last write; `null`: never. */
  persistedAt: number | null;
  isDirty: boolean;
}

const COLLECTION = "last-good";
/** So many results are sealed and written in one go, and then none for so long. */
const WRITTEN_AT_ONCE = 32;
const WRITE_EVERY_MS = 5_000;

export function createLastGood(options: LastGoodOptions): LastGood {
  const { documents, clock, sealer, maxCharacters = 131_072, places = 256, inMemory = 256 } = options;
  const { maxAgeMs: keptMs = 86_400_000, persistEveryMs = 60_000, onFault = () => undefined } = options;
  const held = createSlots(inMemory);
  const writes = new Set<Promise<void>>();
  let timer: Timer | undefined;

  const persist = async (entry: Held): Promise<void> => {
    entry.isDirty = false;
    entry.persistedAt = clock.monotonic();
    const identity = identify(entry.key);
    const place = placeOf(entry.key, identity, places);
    const plain = JSON.stringify({ identity, asOf: entry.asOf, raw: entry.raw });
    const sealed = await sealer.seal(plain, `${COLLECTION} ${place}`);
    await documents.put(COLLECTION, place, sealed, { expiresAt: entry.asOf + keptMs, durable: false });
  };

  const startPersisting = (entry: Held): void => {
    const write = persist(entry)
      .catch((error: unknown) => {
        entry.isDirty = true;
        onFault(error);
      })
      .finally(() => writes.delete(write));
    writes.add(write);
  };

  const writeSome = (): void => {
    timer = undefined;
    const nowMs = clock.monotonic();
    let written = 0;
    for (const entry of held.list()) {
      if (!entry.isDirty) continue;
      writeLater();
      if (entry.persistedAt !== null && nowMs - entry.persistedAt < persistEveryMs) continue;
      if (written === WRITTEN_AT_ONCE) return;
      written += 1;
      startPersisting(entry);
    }
  };

  const writeLater = (): void => {
    timer ??= clock.timer(WRITE_EVERY_MS, writeSome);
  };

  return {
    remember(key, raw) {
      const measure = measureJson(raw, { ...STRUCTURED_LIMITS, maxCharacters });
      if (measure.excess !== null) return;
      held.put(key, raw, clock.now());
      writeLater();
    },

    async recall(key, maxAgeMs) {
      const oldestMs = clock.now() - Math.min(maxAgeMs, keptMs);
      const entry = held.get(key);
      if (entry !== undefined)
        return entry.asOf >= oldestMs ? { raw: entry.raw, asOf: entry.asOf } : undefined;
      const identity = identify(key);
      const place = placeOf(key, identity, places);
      const document = await documents.get(COLLECTION, place);
      if (document === undefined || typeof document.value !== "string") return undefined;
      const plain = await sealer.open(document.value, `${COLLECTION} ${place}`);
      const stored = plain === undefined ? undefined : parseJson(plain);
      // Another key may have taken the place meanwhile.
      if (!isJsonObject(stored) || stored["identity"] !== identity || typeof stored["asOf"] !== "number")
        return undefined;
      const { asOf, raw } = stored;
      return asOf >= oldestMs && raw !== undefined ? { raw, asOf } : undefined;
    },

    async flush() {
      timer?.cancel();
      timer = undefined;
      for (const entry of held.list()) if (entry.isDirty) startPersisting(entry);
      await Promise.all(writes);
    },
  };
}

interface Slots {
  get(key: LastGoodKey): Held | undefined;
  /** Takes the place of the one under its key, or of the oldest among those that could stand there. It is still to be written. */
  put(key: LastGoodKey, raw: JsonValue, asOf: number): void;
  list(): Held[];
}

/** Places for one key; a key that finds others in all of them takes the place of the oldest. */
const WAYS = 4;

/** No `Map`, for the reason in `base/roster.ts`: every call puts something in. */
function createSlots(size: number): Slots {
  const groups = Math.max(1, Math.floor(size / WAYS));
  const slots: (Held | undefined)[] = Array.from({ length: groups * WAYS }, () => undefined);

  const find = (key: LastGoodKey): number => {
    const first = (spread(key.arguments, key.tool.length) % groups) * WAYS;
    let oldest = first;
    for (let at = first; at < first + WAYS; at += 1) {
      const entry = slots[at];
      if (entry === undefined || isSame(entry.key, key)) return at;
      if (entry.asOf < (slots[oldest]?.asOf ?? 0)) oldest = at;
    }
    return oldest;
  };

  return {
    get(key) {
      const entry = slots[find(key)];
      return entry !== undefined && isSame(entry.key, key) ? entry : undefined;
    },
    put(key, raw, asOf) {
      const at = find(key);
      const before = slots[at];
      const persistedAt = before !== undefined && isSame(before.key, key) ? before.persistedAt : null;
      slots[at] = { key, raw, asOf, persistedAt, isDirty: true };
    },
    list: () => slots.filter((entry) => entry !== undefined),
  };
}

function isSame(one: LastGoodKey, other: LastGoodKey): boolean {
  return (
    one.arguments === other.arguments &&
    one.tool === other.tool &&
    one.pin === other.pin &&
    one.principal === other.principal &&
    one.connection.server === other.connection.server &&
    one.connection.credential === other.connection.credential
  );
}

/** FNV-1a over the code units. */
function spread(text: string, seed: number): number {
  let mixed = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  return mixed >>> 0;
}

function identify(key: LastGoodKey): string {
  const parts = [connectionId(key.connection), key.principal, key.tool, key.arguments, key.pin];
  return hash("sha256", JSON.stringify(parts), "hex");
}

/** The document's key: readable by connection, so that an operator can delete what belongs to one. */
function placeOf(key: LastGoodKey, identity: string, places: number): string {
  const place = Number.parseInt(identity.slice(0, 8), 16) % places;
  return `${connectionId(key.connection)} ${String(place).padStart(4, "0")}`;
}
