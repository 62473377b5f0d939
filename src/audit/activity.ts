/** What was done, newest first: the calls of the store, each folded from its records. */
import { timeOfId } from "../base/random.ts";
import type { Instance, Records, StoredRecord } from "../store/store.ts";
import type { Store } from "../store/store.ts";
import { expandCalls, SPAN_MS } from "./finished.ts";
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
  const openings = await listOpenings(records, filter);
  const marks = new Map<string, readonly StoredRecord[]>();
  for (const opening of openings)
    if (!marks.has(opening.callId)) marks.set(opening.callId, await readMarksOf(records, opening));
  const living = new Set([...before, ...(await listLiving(instances))]);
  const calls: CallActivity[] = [];
  for (const ofCall of marks.values()) {
    const call = foldCall(ofCall, (writer) => living.has(writer));
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** The first record of each call that fits, newest first. */
async function listOpenings(records: Records, filter: ActivityFilter): Promise<readonly StoredRecord[]> {
  const { callId, fromMs, limit = DEFAULT_LIMIT } = filter;
  if (callId !== undefined) return findOpening(records, callId, filter);
  const found = await records.query({
    ...filter,
    // A record of several calls has the time of the first.
    ...(fromMs === undefined ? {} : { fromMs: fromMs - SPAN_MS }),
    kinds: ["opened", "call", "calls"],
    limit,
    newestFirst: true,
  });
  const openings = found.flatMap((record) => expandCalls(record).toReversed());
  return openings.filter(({ at }) => isWithin(at, filter)).slice(0, limit);
}

async function findOpening(
  records: Records,
  callId: string,
  filter: ActivityFilter,
): Promise<readonly StoredRecord[]> {
  const own = await records.query({ ...filter, kinds: ["opened", "call"], limit: 1 });
  const idAt = timeOfId(callId);
  if (own.length > 0 || idAt === undefined) return own;
  const { callId: _inIt, ...others } = filter;
  const around = { fromMs: idAt - SPAN_MS, toMs: idAt + SPAN_MS };
  const shared = await records.query({ ...others, ...around, kinds: ["calls"], limit: MAX_MARKS });
  return shared.flatMap(expandCalls).filter((call) => call.callId === callId && isWithin(call.at, filter));
}

function isWithin(at: number, { fromMs = at, toMs = at }: ActivityFilter): boolean {
  return at >= fromMs && at <= toMs;
}

/** All records of a call: a shared one is not among those under its id. */
async function readMarksOf(records: Records, opening: StoredRecord): Promise<readonly StoredRecord[]> {
  const own = await readMarks(records, opening.callId);
  return own.some(({ sequence, writer }) => sequence === opening.sequence && writer === opening.writer)
    ? own
    : [opening, ...own];
}

/** The records of one call under its id, in the order of commitment. */
export function readMarks(records: Records, callId: string): Promise<readonly StoredRecord[]> {
  return records.query({ callId, limit: MAX_MARKS });
}

/** The writers whose processes live. */
export async function listLiving(instances: Store["instances"]): Promise<ReadonlySet<string>> {
  const all = await instances.list();
  const dead = new Set((await instances.listDead()).map(({ id }) => id));
  return new Set(all.filter(({ id }: Instance) => !dead.has(id)).map(({ id }) => id));
}
