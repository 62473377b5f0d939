/** What was done, newest first: the calls of the store, each folded from its records. */
import type { Instance, Records, StoredRecord } from "../store/store.ts";
import type { Store } from "../store/store.ts";
import { foldCall, type CallActivity } from "./fold.ts";

export interface ActivityFilter {
  readonly callId?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: string;
  /** By the time of opening. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Default 100. */
  readonly limit?: number;
}

const DEFAULT_LIMIT = 100;
/** More marks than any call makes; what a hostile file holds beyond it is not read. */
const MAX_MARKS = 1_000;

/** Calls, newest first. */
export async function listActivity(
  { records, instances }: Pick<Store, "records" | "instances">,
  filter: ActivityFilter = {},
): Promise<readonly CallActivity[]> {
  // Asked before and after: neither a process that left meanwhile nor one that came is taken for dead.
  const before = await listLiving(instances);
  const openings = await records.query({
    ...filter,
    kinds: ["opened", "call"],
    limit: filter.limit ?? DEFAULT_LIMIT,
    newestFirst: true,
  });
  const marks = new Map<string, readonly StoredRecord[]>();
  for (const { callId } of openings)
    if (!marks.has(callId)) marks.set(callId, await readMarks(records, callId));
  const living = new Set([...before, ...(await listLiving(instances))]);
  const calls: CallActivity[] = [];
  for (const ofCall of marks.values()) {
    const call = foldCall(ofCall, (writer) => living.has(writer));
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** All records of one call, in the order of commitment. */
export function readMarks(records: Records, callId: string): Promise<readonly StoredRecord[]> {
  return records.query({ callId, limit: MAX_MARKS });
}

/** The writers whose processes live. */
export async function listLiving(instances: Store["instances"]): Promise<ReadonlySet<string>> {
  const all = await instances.list();
  const dead = new Set((await instances.listDead()).map(({ id }) => id));
  return new Set(all.filter(({ id }: Instance) => !dead.has(id)).map(({ id }) => id));
}
