/**
 * Closes the calls that a process left open when it died, so that each of them has an end on record. A living process's
 * calls are never touched. Running it twice, or in two processes at once, does no harm.
 */
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { OpenCall, Store } from "../store/store.ts";
import { listLiving, readMarks } from "./activity.ts";
import { foldCall, type CallActivity } from "./fold.ts";

export interface RecoverOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LEASE = "audit.recover";

/**
 * @returns the calls that were closed now, as they stand: `refused` with effect `none` where nothing was sent, `cancelled`
 *   with effect `unknown` where something may have been (`none` for L0).
 * @throws `audit_unavailable`, `state_unusable`, or the reason of the signal.
 */
export async function recover({ store, clock, signal }: RecoverOptions): Promise<readonly CallActivity[]> {
  if ((await listOrphans(store)).length === 0) {
    await removeDead(store, []);
    return [];
  }
  const lease = await store.leases.acquire(LEASE, signal);
  try {
    const recovered: CallActivity[] = [];
    for (const { callId, writer } of await listOrphans(store)) {
      lease.signal.throwIfAborted();
      const call = await closeOrphan(store, clock, callId, writer);
      if (call !== undefined) recovered.push(call);
    }
    await removeDead(store, await listOrphans(store));
    return recovered;
  } finally {
    await lease.release();
  }
}

/** Open calls whose process is gone. */
async function listOrphans({ records, instances }: Store): Promise<readonly OpenCall[]> {
  const before = await records.listOpen();
  if (before.length === 0) return [];
  const living = await listLiving(instances);
  // Whoever opened one of these was registered before it did. Still open now, and its process not among the living then:
  // it was not closed in between by a process that then left.
  const after = new Set((await records.listOpen()).map(({ callId }) => callId));
  return before.filter(({ callId, writer }) => !living.has(writer) && after.has(callId));
}

async function closeOrphan(
  store: Store,
  clock: Clock,
  callId: string,
  writer: string,
): Promise<CallActivity | undefined> {
  const call = foldCall(await readMarks(store.records, callId), () => false);
  const body: JsonObject = {
    principal: call?.principal ?? "",
    server: call?.server ?? null,
    tool: call?.tool ?? "",
    outcome: call?.outcome ?? "cancelled",
    code: "interrupted",
    effect: call?.effect ?? "unknown",
    durationMs: null,
    attempts: call?.attempts ?? 0,
    recovered: true,
    writer,
  };
  await store.records.append({ callId, kind: "closed", at: clock.now(), body }, "durable");
  return call;
}

/** Takes dead instances out whose calls are all closed. */
async function removeDead({ instances }: Store, orphans: readonly OpenCall[]): Promise<void> {
  const busy = new Set(orphans.map(({ writer }) => writer));
  for (const { id } of await instances.listDead()) if (!busy.has(id)) await instances.remove(id);
}
