/** The last proof of life of each connection, kept over restarts and shared through the store. */
import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { ProofOfLife } from "../connection/connection.ts";
import type { Store } from "../store/store.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";

export interface HealthRecord extends ProofOfLife {
  readonly era: string | null;
  readonly revision: string | null;
}

export interface Health {
  /** What is known, by this process or another. */
  last(key: ConnectionKey): HealthRecord | undefined;
  note(key: ConnectionKey, record: HealthRecord): void;
  load(): Promise<void>;
}

/** A proof is written at most so often per connection, unless it turned from good to bad or back. */
const WRITE_EVERY_MS = 5_000;

export function createHealth(
  { documents }: Pick<Store, "documents">,
  onFault: (error: unknown) => void,
): Health {
  const known = new Map<string, HealthRecord>();
  const writtenAt = new Map<string, number>();
  return {
    last: (key) => known.get(connectionId(key)),
    note(key, record) {
      const id = connectionId(key);
      const before = known.get(id);
      known.set(id, record);
      if (before?.ok === record.ok && record.at - (writtenAt.get(id) ?? 0) < WRITE_EVERY_MS) return;
      writtenAt.set(id, record.at);
      documents.put("health", id, { ...record }, { durable: false }).catch(onFault);
    },
    async load() {
      for (const { key, value } of await documents.list("health")) {
        const record = readRecord(value);
        if (record !== undefined && record.at > (known.get(key)?.at ?? 0)) known.set(key, record);
      }
    },
  };
}

function readRecord(value: JsonValue): HealthRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, ok, latencyMs, era, revision } = value;
  if (typeof at !== "number" || typeof ok !== "boolean" || typeof latencyMs !== "number") return undefined;
  return {
    at,
    ok,
    latencyMs,
    era: typeof era === "string" ? era : null,
    revision: typeof revision === "string" ? revision : null,
  };
}
