/**
 * The hash chain over records, pure. The hash of a record is the SHA-256 (hex) of the canonical JSON (base/json.ts) of the
 * record without its `hash`; `previousHash` ties it to the one before. Anybody can check an exported chain with that.
 */
import { hash } from "node:crypto";
import { canonicalJson } from "../base/json.ts";
import type { RecordInput, StoredRecord } from "./store.ts";

/** What comes before the first record of a chain. */
export const FIRST_PREVIOUS_HASH = "0".repeat(64);

/** A record whose body is already canonical text. */
export interface HashableRecord extends Pick<RecordInput, "callId" | "kind" | "at"> {
  readonly writer: string;
  readonly sequence: number;
  readonly previousHash: string;
  readonly bodyText: string;
}

/** The hash of a record; the same as that of `hashStoredRecord` without building the object first. */
export function hashRecord(record: HashableRecord): string {
  const { at, bodyText, callId, kind, previousHash, sequence, writer } = record;
  // The members of `canonicalJson`, written out in the order of their names.
  return hash(
    "sha256",
    `{"at":${at},"body":${bodyText},"callId":${JSON.stringify(callId)},"kind":${JSON.stringify(kind)},` +
      `"previousHash":"${previousHash}","sequence":${sequence},"writer":${JSON.stringify(writer)}}`,
    "hex",
  );
}

/** The hash that `record` should have. */
export function hashStoredRecord(record: StoredRecord): string {
  const { hash: _claimed, ...rest } = record;
  return hash("sha256", canonicalJson(rest), "hex");
}
