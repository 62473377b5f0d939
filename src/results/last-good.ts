/**
 * The last good result of read-only tools, for the time when their server cannot be reached. Collection `last-good`.
 *
 * What is kept is the raw result: on use it goes through intake and scan again, with the rules of that day. Sealed; bounded by
 * construction, because each connection has a fixed number of places and a result may only take the place that its key falls on.
 */
import { createHash } from "node:crypto";
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
  /** Digest of the arguments as they were sent. */
  readonly argumentsDigest: string;
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
   * Remembers a completed result of an L0 tool: in memory at once, in the store after `writeAfterMs`, all together, and at most
   * every `persistEveryMs` for the same key. Resolves without waiting for the store; `flush` waits. What is too large is not
   * kept, and replaces nothing; what `inMemory` newer results push out before it was written is forgotten.
   */
  remember(key: LastGoodKey, raw: JsonValue): Promise<void>;
  /** @param maxAgeMs older ones are as good as none. */
  recall(key: LastGoodKey, maxAgeMs: number): Promise<LastGoodResult | undefined>;
  /** Writes what is in memory only, and waits for what is being written. */
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
  /** Default 5,000. A burst of calls costs as many writes as fit in memory, not one each. */
  readonly writeAfterMs?: number;
  /** Told about writes that failed; the result stays in memory and is written again later. */
  readonly onFault?: (error: unknown) => void;
}

interface Held {
  raw: JsonValue;
  asOf: number;
  /** Monotonic time of the last write; `null`: never. */
  persistedAt: number | null;
  isDirty: boolean;
  readonly key: LastGoodKey;
}

const COLLECTION = "last-good";

export function createLastGood(options: LastGoodOptions): LastGood {
  const { documents, clock, sealer, maxCharacters = 131_072, places = 256, inMemory = 256 } = options;
  const { maxAgeMs: keptMs = 86_400_000, persistEveryMs = 60_000, writeAfterMs = 5_000 } = options;
  const { onFault = () => undefined } = options;
  /** By identity; the one used longest ago first. */
  const held = new Map<string, Held>();

  const persist = async (identity: string, entry: Held): Promise<void> => {
    entry.isDirty = false;
    entry.persistedAt = clock.monotonic();
    const place = placeOf(entry.key, identity, places);
    const plain = JSON.stringify({ identity, asOf: entry.asOf, raw: entry.raw });
    const sealed = await sealer.seal(plain, `${COLLECTION} ${place}`);
    await documents.put(COLLECTION, place, sealed, { expiresAt: entry.asOf + keptMs, durable: false });
  };

  let timer: Timer | undefined;
  const writes = new Set<Promise<void>>();
  const persistSoon = (identity: string, entry: Held): void => {
    const write = persist(identity, entry)
      .catch((error: unknown) => {
        entry.isDirty = true;
        onFault(error);
      })
      .finally(() => writes.delete(write));
    writes.add(write);
  };

  const isDue = ({ persistedAt }: Held): boolean =>
    persistedAt === null || clock.monotonic() - persistedAt >= persistEveryMs;

  const writeDue = (): void => {
    timer = undefined;
    for (const [identity, entry] of held) if (entry.isDirty && isDue(entry)) persistSoon(identity, entry);
  };

  return {
    async remember(key, raw) {
      const measure = measureJson(raw, { ...STRUCTURED_LIMITS, maxCharacters });
      if (measure.excess !== null) return;
      const identity = identify(key);
      const before = held.get(identity);
      const entry: Held = {
        raw,
        asOf: clock.now(),
        persistedAt: before?.persistedAt ?? null,
        isDirty: true,
        key,
      };
      held.delete(identity);
      held.set(identity, entry);
      if (held.size > inMemory) {
        const [oldest] = held.keys();
        if (oldest !== undefined) held.delete(oldest);
      }
      if (isDue(entry)) timer ??= clock.timer(writeAfterMs, writeDue);
    },

    async recall(key, maxAgeMs) {
      const identity = identify(key);
      const oldestMs = clock.now() - Math.min(maxAgeMs, keptMs);
      const entry = held.get(identity);
      if (entry !== undefined)
        return entry.asOf >= oldestMs ? { raw: entry.raw, asOf: entry.asOf } : undefined;
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
      for (const [identity, entry] of held) if (entry.isDirty) persistSoon(identity, entry);
      await Promise.all(writes);
    },
  };
}

function identify(key: LastGoodKey): string {
  const parts = [connectionId(key.connection), key.principal, key.tool, key.argumentsDigest, key.pin];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The document's key: readable by connection, so that an operator can delete what belongs to one. */
function placeOf(key: LastGoodKey, identity: string, places: number): string {
  const place = Number.parseInt(identity.slice(0, 8), 16) % places;
  return `${connectionId(key.connection)} ${String(place).padStart(4, "0")}`;
}
