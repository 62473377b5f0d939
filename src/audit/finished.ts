/**
 * Calls that only read and were over before any of it was written. Those of one tool that end at about the same time become one
 * record (`calls`): one row, one hash, one entry in each index for all of them. A call by itself becomes a `call` record.
 *
 * Such a call is found again by its id, because an id begins with its time (`timedId`) and a record holds calls of about one
 * time only.
 */
import {
  inCanonicalOrder,
  isJsonObject,
  ownProperty,
  type JsonObject,
  type JsonValue,
} from "../base/json.ts";
import { timeOfId } from "../base/random.ts";
import type { RecordInput, StoredRecord } from "../store/store.ts";
import type { CallAttempt, CallClosed, CallDecided, CallOpened } from "./marks.ts";
import {
  attemptBody,
  toCallBody,
  toSharedBody,
  type Facts,
  type RecordBodies,
  type WholeCall,
} from "./record-body.ts";

export interface Tried {
  readonly number: number;
  readonly attempt: CallAttempt;
}

export interface FinishedCall {
  readonly call: CallOpened;
  /** Milliseconds since the epoch, like every time here. */
  readonly openedAt: number;
  readonly decision: CallDecided | undefined;
  readonly dispatchedAt: number | undefined;
  /** Attempts, where there was more than one or it failed. */
  readonly tried: readonly Tried[] | undefined;
  readonly outcome: CallClosed;
  readonly closedAt: number;
}

/** A record, and how many calls are in it. */
export interface FinishedRecord {
  readonly record: RecordInput;
  readonly calls: number;
}

const MAX_CALLS = 64;
/** From the first opening in a record to the last, and from a call's id to its opening. */
export const SPAN_MS = 1_000;

/** In the order of `finished`, by the first of each record. */
export function toFinishedRecords(finished: readonly FinishedCall[], bodies: RecordBodies): FinishedRecord[] {
  return groupCalls(finished).map((group) => {
    const [first] = group;
    if (group.length > 1) return { record: toShared(group, first, bodies), calls: group.length };
    const { call, openedAt } = first;
    const record = {
      callId: call.callId,
      kind: "call",
      at: openedAt,
      body: inCanonicalOrder(toCallBody(call, wholeOf(first, bodies, decidedOf(first, bodies)))),
    };
    return { record, calls: 1 };
  });
}

type Group = [FinishedCall, ...FinishedCall[]];

function groupCalls(finished: readonly FinishedCall[]): Group[] {
  const groups: Group[] = [];
  const filling = new Map<string, Group>();
  for (const one of finished) {
    const { server, tool, principal } = one.call;
    if (!isFoundById(one)) {
      groups.push([one]);
      continue;
    }
    const key = `${server ?? ""}\n${tool}\n${principal}`;
    const group = filling.get(key);
    if (group !== undefined && group.length < MAX_CALLS && isAtOnce(group[0], one)) group.push(one);
    else {
      const next: Group = [one];
      filling.set(key, next);
      groups.push(next);
    }
  }
  return groups;
}

function isFoundById({ call, openedAt }: FinishedCall): boolean {
  const idAt = timeOfId(call.callId);
  return idAt !== undefined && openedAt >= idAt && openedAt - idAt < SPAN_MS;
}

/** `at` of the record is the first opening: nothing in it may be from before. */
function isAtOnce(first: FinishedCall, { openedAt }: FinishedCall): boolean {
  return openedAt >= first.openedAt && openedAt - first.openedAt < SPAN_MS;
}

function wholeOf(finished: FinishedCall, bodies: RecordBodies, decided: Facts | undefined): WholeCall {
  const { call, tried, outcome, closedAt, dispatchedAt } = finished;
  return {
    opened: bodies.opened(call),
    attempts: tried?.map(({ number, attempt }) => attemptBody(number, attempt)),
    closed: bodies.closed(outcome),
    closedAt,
    decided,
    dispatchedAt,
  };
}

function decidedOf({ decision }: FinishedCall, bodies: RecordBodies): Facts | undefined {
  return decision === undefined ? undefined : bodies.decided(decision);
}

function toShared(group: Group, first: FinishedCall, bodies: RecordBodies): RecordInput {
  // Calls that only read are mostly decided by the same rules, and then it is one and the same decision.
  const isOneDecision = group.every(({ decision }) => decision === first.decision);
  const decided = isOneDecision ? decidedOf(first, bodies) : undefined;
  const items = group.map((one) => ({
    call: one.call,
    at: one.openedAt,
    whole: wholeOf(one, bodies, isOneDecision ? undefined : decidedOf(one, bodies)),
  }));
  const body = toSharedBody(first.call, items, decided);
  // No call of its own: `timeOfId` says where to look for those in it.
  return { callId: "", kind: "calls", at: first.openedAt, body: inCanonicalOrder(body) };
}

/** The calls in a `calls` record, each as the `call` record that it would be by itself; any other record as it is. */
export function expandCalls(record: StoredRecord): readonly StoredRecord[] {
  if (record.kind !== "calls") return [record];
  const { principal = null, server = null, tool = null } = record.body;
  const context = ownProperty(record.body, "context");
  const decided = ownProperty(record.body, "decided");
  const items = ownProperty(record.body, "calls");
  const calls: StoredRecord[] = [];
  for (const item of Array.isArray(items) ? (items as JsonValue[]) : []) {
    const callId = isJsonObject(item) ? ownProperty(item, "callId") : undefined;
    const at = isJsonObject(item) ? ownProperty(item, "at") : undefined;
    if (typeof callId !== "string" || typeof at !== "number") continue;
    const own = item as JsonObject;
    const body: JsonObject = {
      ...own,
      closed: merged(ownProperty(record.body, "closed"), ownProperty(own, "closed")),
      context: merged(context, ownProperty(own, "context")),
      principal,
      server,
      tool,
    };
    if (isJsonObject(decided) && own["decided"] === undefined) body["decided"] = decided;
    calls.push({ ...record, callId, at, kind: "call", body });
  }
  return calls;
}

function merged(common: unknown, own: unknown): JsonObject {
  return { ...(isJsonObject(common) ? common : {}), ...(isJsonObject(own) ? own : {}) };
}
