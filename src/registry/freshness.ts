/**
 * How long a list may be believed (utilities/caching). Lazy: staleness is looked at when somebody asks, nothing polls (CCH-03 to
 * CCH-08). Catalogs are kept by connection key, so what is private never crosses to another authorization (CCH-10, CCH-15).
 */

export interface CacheHint {
  /** Milliseconds; anything that is no positive number is 0. */
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

export const NO_CACHE: CacheHint = { ttlMs: 0, cacheScope: "private" };

/** A server may not have its list believed for longer than a day. */
export const MAX_TTL_MS = 24 * 60 * 60 * 1000;

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
  const { ttlMs } = freshness.hint;
  return ttlMs > 0 && now < freshness.receivedAt + Math.min(ttlMs, MAX_TTL_MS);
}
