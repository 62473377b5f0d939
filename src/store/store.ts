/**
 * The store port. Its clauses are normative; `contract.ts` holds the suite that every implementation runs.
 *
 * Three kinds of things are kept:
 * - **documents**: small JSON values by collection and key, with a version for compare-and-set and an optional expiry
 *   (pins, catalogs, approvals, grants, health, breakers, eras, tokens, trust, last good results, tasks);
 * - **records**: the append-only log of calls, one hash chain per writer;
 * - **instances** and **leases**: which processes live on this state, and who may do a thing alone.
 *
 * Several processes use one store at a time, on one machine or, where it is a database, on many. A crash loses nothing that was
 * acknowledged.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";

/** Closed list: a new collection is a change of this port. */
export type Collection =
  | "approvals"
  | "grants"
  | "undos"
  | "pins"
  | "catalogs"
  | "last-good"
  | "health"
  | "breakers"
  | "eras"
  | "tokens"
  | "credentials"
  | "trust"
  | "paused"
  | "tasks"
  | "rests"
  | "provenance"
  | "children"
  | "anchors"
  | "locks"
  | "checks"
  | "vault";

export interface StoredDocument {
  readonly key: string;
  readonly value: JsonValue;
  /** Starts at 1 and grows by 1 with every write of this key; at 1 again after the key was deleted or ran out. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly expiresAt: number | null;
}

export interface PutOptions {
  /** Write only if the stored version is this one; 0 = only if there is none. */
  readonly ifVersion?: number;
  /** Milliseconds since the epoch; after it the document is as good as gone. */
  readonly expiresAt?: number;
  /** `true` (default): acknowledged only when it survives a power cut. */
  readonly durable?: boolean;
}

export interface Documents {
  get(collection: Collection, key: string): Promise<StoredDocument | undefined>;
  /** @returns the document as stored, or `undefined` where `ifVersion` did not hold. */
  put(
    collection: Collection,
    key: string,
    value: JsonValue,
    options?: PutOptions,
  ): Promise<StoredDocument | undefined>;
  /** @returns whether something was deleted (and `ifVersion` held). */
  delete(collection: Collection, key: string, ifVersion?: number): Promise<boolean>;
  /** In order of the key; only keys that start with `prefix` where given. */
  list(collection: Collection, prefix?: string): Promise<readonly StoredDocument[]>;
}

export interface RecordInput {
  /** Best one that begins with its time (`timedId`); empty for what belongs to no call. */
  readonly callId: string;
  /** `opened`, `decided`, `dispatched`, `attempt`, `closed`, `late`, and kinds of other events such as `config.changed`. */
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly body: JsonObject;
}

export interface StoredRecord extends RecordInput {
  readonly writer: string;
  /** 1, 2, 3, … per writer, without a gap. */
  readonly sequence: number;
  /** Hex SHA-256 of the record before; 64 zeros for the first. */
  readonly previousHash: string;
  readonly hash: string;
}

export interface RecordFilter {
  readonly callId?: string;
  readonly writer?: string;
  readonly kinds?: readonly string[];
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Compared with `body.server`, `body.tool` and `body.principal`. */
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: string;
  /** Default 1,000. */
  readonly limit?: number;
  /** Only records of this sequence and after; meant with `writer`. */
  readonly fromSequence?: number;
  /** Newest first; default false. */
  readonly newestFirst?: boolean;
}

/** Where a chain ends now: what an anchor keeps of it. */
export interface ChainHead {
  readonly writer: string;
  /** Of the newest record. */
  readonly sequence: number;
  readonly hash: string;
  /** Sequence of the newest record that was pruned; 0 where none was. */
  readonly prunedTo: number;
}

/** A call with an `opened` record and no `closed` one. */
export interface OpenCall {
  readonly callId: string;
  /** The writer of its `opened` record. */
  readonly writer: string;
}

export interface ChainVerdict {
  readonly writer: string;
  /** How many records are there, pruned ones left out. */
  readonly length: number;
  readonly ok: boolean;
  /** Sequence of the first record that does not fit, and why. */
  readonly brokenAt?: number;
  readonly reason?: string;
}

/** `durable`: acknowledged when it survives a power cut. `batched`: at most 50 ms behind, lost at worst with the machine. */
export type Durability = "durable" | "batched";

export interface Records {
  /**
   * Appends to this process's own chain, in the order of the calls. Durable appends of one tick are committed together.
   * The record is hashed and written later: nobody may change it after it was given. The promise may be ignored.
   *
   * @throws `audit_unavailable` where it could not be written; it is not tried again.
   */
  append(record: RecordInput, durability: Durability): Promise<void>;
  /** In the order of commitment; what this process has appended so far is seen, batched or not. */
  query(filter: RecordFilter): Promise<readonly StoredRecord[]>;
  /** All that match, in the order of commitment, read page by page; `limit` and `newestFirst` do not apply. */
  scan(filter: RecordFilter): AsyncIterable<StoredRecord>;
  /** Every call of every writer that is open now: in flight where its writer lives, cut off where it does not. */
  listOpen(): Promise<readonly OpenCall[]>;
  /** Every chain that has, or had, records. */
  heads(): Promise<readonly ChainHead[]>;
  /** Checks every chain, or that of `writer`. */
  verify(writer?: string): Promise<readonly ChainVerdict[]>;
  /** Drops records older than `beforeMs`, from the head of each chain only, leaving an anchor so that the rest still verifies. */
  prune(beforeMs: number): Promise<number>;
}

export interface Instance {
  /** Also the writer of its records. */
  readonly id: string;
  readonly pid: number;
  /** Start time of the process as the operating system tells it, so that a reused pid is not mistaken. */
  readonly processStart: string;
  readonly role: string;
  readonly startedAt: number;
  /** Milliseconds since the epoch; renewed while it lives. */
  readonly leaseUntil: number;
}

export interface Instances {
  /** This process's own entry, made when the store was opened. */
  readonly self: Instance;
  list(): Promise<readonly Instance[]>;
  /** Those whose process is gone (pid and start time say so) or whose lease ran out on another machine, by the store's clock. */
  listDead(): Promise<readonly Instance[]>;
  remove(id: string): Promise<void>;
}

export interface Lease {
  readonly name: string;
  /** Aborted when the lease could not be renewed in time. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

export interface Leases {
  /** Waits until nobody else holds `name`; renewed by itself until released. @throws the signal's reason. */
  acquire(name: string, signal: AbortSignal): Promise<Lease>;
}

export interface Store {
  readonly documents: Documents;
  readonly records: Records;
  readonly instances: Instances;
  readonly leases: Leases;
  /**
   * Calls `listener` soon (at most about 100 ms) after anything in `collection` may have changed, whichever process did
   * it. May be called without a change; never misses one that is made after `watch` was called: watch first, then read.
   * @returns the function that ends it.
   */
  watch(collection: Collection | "records", listener: () => void): () => void;
  /** Everything acknowledged or batched is on disk when it resolves. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
