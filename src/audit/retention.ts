/** How long records are kept. That some were dropped, and up to which time, is itself on record. */
import type { Clock } from "../base/clock.ts";
import type { Records, Store } from "../store/store.ts";
import { pruneAnchors } from "./anchor.ts";

const PRUNED_KIND = "audit.pruned";

/**
 * Drops what is older than `retentionMs`.
 *
 * @returns how many records were dropped.
 */
export async function pruneAudit(
  store: Pick<Store, "records" | "documents">,
  clock: Clock,
  retentionMs: number,
): Promise<number> {
  const now = clock.now();
  const beforeMs = now - retentionMs;
  const dropped = await store.records.prune(beforeMs);
  await pruneAnchors(store, beforeMs);
  if (dropped > 0) {
    await store.records.append(
      { callId: "", kind: PRUNED_KIND, at: now, body: { beforeMs, dropped } },
      "durable",
    );
  }
  return dropped;
}

/** The time before which records were dropped by right; 0 where none were. */
export async function readPrunedBefore(records: Records): Promise<number> {
  const [newest] = await records.query({ callId: "", kinds: [PRUNED_KIND], newestFirst: true, limit: 1 });
  const before = newest?.body["beforeMs"];
  return typeof before === "number" ? before : 0;
}
