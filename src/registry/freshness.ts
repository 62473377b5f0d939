/**
 * How long a list may be believed (utilities/caching, modern; the legacy era has no TTL, which is 0). Lazy: staleness is looked at
 * when somebody asks, nothing polls (CCH-03 to CCH-08). What is private stays with its connection, and so does everything whose
 * scope is missing or malformed (CCH-10, CCH-15): catalogs are kept by connection key, so nothing ever crosses.
 */
import { isJsonObject, ownProperty } from "../base/json.ts";

export type CacheScope = "public" | "private";

export interface CacheHint {
  /** Milliseconds; 0 where absent, negative or malformed. */
  readonly ttlMs: number;
  readonly scope: CacheScope;
}

export const NO_CACHE: CacheHint = { ttlMs: 0, scope: "private" };

/** A server may not have its list believed for longer than a day. */
export const MAX_TTL_MS = 24 * 60 * 60 * 1000;

/** Reads `ttlMs` and `cacheScope` of a list result. */
export function readCacheHint(result: unknown): CacheHint {
  if (!isJsonObject(result)) return NO_CACHE;
  const ttlMs = ownProperty(result, "ttlMs");
  const scope = ownProperty(result, "cacheScope");
  const isTime = typeof ttlMs === "number" && Number.isFinite(ttlMs) && ttlMs > 0;
  return { ttlMs: isTime ? Math.min(ttlMs, MAX_TTL_MS) : 0, scope: scope === "public" ? "public" : "private" };
}

/** Several pages together are as fresh as the least fresh one, and as private as the most private one. */
export function combineCacheHints(hints: readonly CacheHint[]): CacheHint {
  if (hints.length === 0) return NO_CACHE;
  return {
    ttlMs: Math.min(...hints.map((hint) => hint.ttlMs)),
    scope: hints.every((hint) => hint.scope === "public") ? "public" : "private",
  };
}

export interface Freshness {
  /** Milliseconds since the epoch, on this machine's clock, when the list was received. */
  readonly receivedAt: number;
  readonly hint: CacheHint;
  /** A notification said that it changed (CCH-11). */
  readonly isInvalidated: boolean;
}

/** Fresh while `now < receivedAt + ttlMs`; a clock that went back makes it stale, not eternal. */
export function isFresh(freshness: Freshness, now: number): boolean {
  if (freshness.isInvalidated || now < freshness.receivedAt) return false;
  return now < freshness.receivedAt + freshness.hint.ttlMs;
}
