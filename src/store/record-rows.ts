/**
 * Records on their way to a database and back, the same for every store: checked and serialised once (`RecordEntry`), then chained
 * to the head that is known when they are written. One that cannot be serialised fails alone and is left out of the chain.
 */
import { canonicalJson, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { hashRecord } from "./record-hash.ts";
import { integerColumn, jsonColumn, textColumn, wholeMs, type Row } from "./rows.ts";
import type { ChainHead, RecordInput, StoredRecord } from "./store.ts";

const MAX_NAME_CHARACTERS = 256;

/** One append that waits. */
export interface RecordEntry {
  readonly record: RecordInput;
  /** Canonical text of the body; set by `prepareEntry`. */
  bodyText: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The newest record of a chain. */
export interface ChainEnd {
  readonly sequence: number;
  readonly hash: string;
}

/** A record with its place in the chain, as columns. */
export interface RecordRow {
  readonly sequence: number;
  readonly callId: string;
  readonly kind: string;
  readonly at: number;
  readonly server: string | null;
  readonly tool: string | null;
  readonly principal: string | null;
  readonly bodyText: string;
  readonly previousHash: string;
  readonly hash: string;
}

/** Serialises the body; a record that cannot be written is rejected here. */
export function prepareEntry(entry: RecordEntry): void {
  if (entry.bodyText !== undefined) return;
  try {
    checkName("callId", entry.record.callId);
    checkName("kind", entry.record.kind);
    wholeMs(entry.record.at);
    entry.bodyText = canonicalJson(entry.record.body);
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    entry.reject(
      new PortcullisError("audit_unavailable", `the record cannot be written: ${told}`, { cause: error }),
    );
  }
}

/** The row of a prepared entry that follows `end`; `undefined` for one that was rejected. */
export function toRecordRow(entry: RecordEntry, writer: string, end: ChainEnd): RecordRow | undefined {
  const { record, bodyText } = entry;
  if (bodyText === undefined) return undefined;
  const { callId, kind, body } = record;
  const at = wholeMs(record.at);
  const sequence = end.sequence + 1;
  const previousHash = end.hash;
  const hash = hashRecord({ writer, sequence, previousHash, callId, kind, at, bodyText });
  const server = filterable(body, "server");
  const tool = filterable(body, "tool");
  const principal = filterable(body, "principal");
  return { sequence, callId, kind, at, server, tool, principal, bodyText, previousHash, hash };
}

/** Of a row with the columns writer, sequence, call_id, kind, at, body, previous_hash, hash. */
export function toStoredRecord(row: Row): StoredRecord {
  return {
    writer: textColumn(row, "writer"),
    sequence: integerColumn(row, "sequence"),
    callId: textColumn(row, "call_id"),
    kind: textColumn(row, "kind"),
    at: integerColumn(row, "at"),
    body: jsonColumn(row, "body") as JsonObject,
    previousHash: textColumn(row, "previous_hash"),
    hash: textColumn(row, "hash"),
  };
}

/** Of a row with the columns writer, sequence, hash, pruned_to. */
export function toChainHead(row: Row): ChainHead {
  return {
    writer: textColumn(row, "writer"),
    sequence: integerColumn(row, "sequence"),
    hash: textColumn(row, "hash"),
    prunedTo: integerColumn(row, "pruned_to"),
  };
}

/** Text that a database gives back as it took it; another would break the chain when it is checked. */
function checkName(name: string, value: string): void {
  if (value.isWellFormed() && !value.includes("\0") && value.length <= MAX_NAME_CHARACTERS) return;
  throw new PortcullisError(
    "internal",
    `\`${name}\` of a record must be well-formed text without NUL, of at most ${MAX_NAME_CHARACTERS} characters`,
  );
}

function filterable(body: JsonObject, name: "server" | "tool" | "principal"): string | null {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === "string" ? value : null;
}
