/**
 * Checks hash chains: from the pruning anchor to the head that was found at the start, page by page, so that a long chain
 * holds up nobody. What is appended meanwhile is not looked at; what is pruned meanwhile makes it start anew.
 */
import { hashRecord } from "./record-hash.ts";
import { integerColumn, textColumn, type Row } from "./rows.ts";
import type { ChainVerdict } from "./store.ts";

/** Where a chain begins and ends. */
export interface ChainEnds {
  readonly prunedTo: number;
  readonly prunedHash: string;
  readonly sequence: number;
  readonly hash: string;
}

/** Of a row with the columns sequence, hash, pruned_to, pruned_hash. */
export function toChainEnds(row: Row): ChainEnds {
  return {
    prunedTo: integerColumn(row, "pruned_to"),
    prunedHash: textColumn(row, "pruned_hash"),
    sequence: integerColumn(row, "sequence"),
    hash: textColumn(row, "hash"),
  };
}

/** What a store tells about its chains. */
export interface ChainReader {
  /** All of them, or the one of `writer`, in the order of their making. */
  list(writer: string | undefined): Promise<readonly { readonly chain: number; readonly writer: string }[]>;
  /** Chains that records name and that are not there. */
  strays(): Promise<readonly number[]>;
  ends(chain: number): Promise<ChainEnds | undefined>;
  /** At most one page of the records after `after` and up to `to`, in order: sequence, call_id, kind, at, body, previous_hash, hash. */
  page(chain: number, after: number, to: number): Promise<readonly Row[]>;
  /** How many records there are on either side of what the chain says it holds. */
  countOutside(chain: number): Promise<number>;
}

/** @param only the writer of the one chain to check; default all. A writer without a chain gives no verdict. */
export async function verifyChains(reader: ChainReader, only: string | undefined): Promise<ChainVerdict[]> {
  const verdicts: ChainVerdict[] = [];
  for (const { chain, writer } of await reader.list(only)) {
    const verdict = await verifyChain(reader, chain, writer);
    if (verdict !== undefined) verdicts.push(verdict);
  }
  if (only !== undefined) return verdicts;
  for (const chain of await reader.strays()) {
    const reason = "its records are there, its chain is not";
    verdicts.push({ writer: `unknown ${chain}`, length: 0, ok: false, brokenAt: 1, reason });
  }
  return verdicts;
}

async function verifyChain(
  reader: ChainReader,
  chain: number,
  writer: string,
): Promise<ChainVerdict | undefined> {
  for (;;) {
    const ends = await reader.ends(chain);
    if (ends === undefined) return undefined;
    const verdict = await walk(reader, chain, writer, ends);
    if (verdict.ok) return verdict;
    const after = await reader.ends(chain);
    if (after?.prunedTo === ends.prunedTo) return verdict;
  }
}

async function walk(
  reader: ChainReader,
  chain: number,
  writer: string,
  ends: ChainEnds,
): Promise<ChainVerdict> {
  let sequence = ends.prunedTo;
  let hash = ends.prunedHash;
  const broken = (reason: string): ChainVerdict => ({
    writer,
    length: sequence - ends.prunedTo,
    ok: false,
    brokenAt: sequence + 1,
    reason,
  });
  while (sequence < ends.sequence) {
    const rows = await reader.page(chain, sequence, ends.sequence);
    if (rows.length === 0) return broken("the newest records are missing");
    for (const row of rows) {
      const reason = mismatch(row, writer, sequence, hash);
      if (reason !== undefined) return broken(reason);
      sequence += 1;
      hash = textColumn(row, "hash");
    }
  }
  if (hash !== ends.hash)
    return { ...broken("the last record is not the one that was written"), brokenAt: sequence };
  if ((await reader.countOutside(chain)) > 0) return broken("there are records that the chain does not know");
  return { writer, length: sequence - ends.prunedTo, ok: true };
}

/** Why `row` cannot follow the record number `sequence` with hash `previousHash`; `undefined` where it does. */
function mismatch(row: Row, writer: string, sequence: number, previousHash: string): string | undefined {
  const found = integerColumn(row, "sequence");
  if (found !== sequence + 1) return `record ${sequence + 1} is missing`;
  if (textColumn(row, "previous_hash") !== previousHash) return "it does not follow the record before it";
  const hash = hashRecord({
    writer,
    sequence: found,
    previousHash,
    callId: textColumn(row, "call_id"),
    kind: textColumn(row, "kind"),
    at: integerColumn(row, "at"),
    bodyText: textColumn(row, "body"),
  });
  return hash === textColumn(row, "hash") ? undefined : "its content was changed";
}
