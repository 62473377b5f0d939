/**
 * Checks hash chains: from the pruning anchor to the head that was found at the start, page by page, so that a long chain
 * holds up nobody. What is appended meanwhile is not looked at; what is pruned meanwhile makes it start anew.
 */
import type { Connection } from "./sqlite-connection.ts";
import { hashRecord } from "./record-hash.ts";
import { integerColumn, textColumn, type Row } from "./sqlite-rows.ts";
import type { ChainVerdict } from "./store.ts";

const PAGE = 500;
const COLUMNS = "sequence, call_id, kind, at, body, previous_hash, hash";

/** Chains that records name and that are not there; jumps from chain to chain in the index instead of reading it all. */
const SELECT_STRAYS = `
  WITH RECURSIVE found (chain) AS (
    SELECT min(chain) FROM records
    UNION ALL SELECT (SELECT min(chain) FROM records WHERE chain > found.chain) FROM found WHERE chain IS NOT NULL
  ) SELECT chain FROM found WHERE chain IS NOT NULL AND chain NOT IN (SELECT id FROM chains)`;
/** Records on either side of what their chain says it holds. */
const COUNT_OUTSIDE = `
  SELECT count(*) AS count FROM chains c JOIN records r ON r.chain = c.id AND (r.sequence > c.sequence OR r.sequence <= c.pruned_to)
  WHERE c.id = ?`;

type Read = <T>(work: () => T) => Promise<T>;

/** @param only the writer of the one chain to check; default all. A writer without a chain gives no verdict. */
export async function verifyChains(
  connection: Connection,
  only: string | undefined,
  read: Read,
): Promise<ChainVerdict[]> {
  const writers = await read(() =>
    only === undefined
      ? connection.all("SELECT id, writer FROM chains ORDER BY id")
      : connection.all("SELECT id, writer FROM chains WHERE writer = ?", only),
  );
  const verdicts: ChainVerdict[] = [];
  for (const row of writers) {
    const verdict = await verifyChain(connection, integerColumn(row, "id"), textColumn(row, "writer"), read);
    if (verdict !== undefined) verdicts.push(verdict);
  }
  if (only === undefined) {
    for (const row of await read(() => connection.all(SELECT_STRAYS))) {
      const writer = `unknown ${integerColumn(row, "chain")}`;
      verdicts.push({
        writer,
        length: 0,
        ok: false,
        brokenAt: 1,
        reason: "its records are there, its chain is not",
      });
    }
  }
  return verdicts;
}

interface Anchor {
  readonly prunedTo: number;
  readonly prunedHash: string;
  readonly sequence: number;
  readonly hash: string;
}

function readAnchor(connection: Connection, chain: number): Anchor | undefined {
  const row = connection.get("SELECT sequence, hash, pruned_to, pruned_hash FROM chains WHERE id = ?", chain);
  if (row === undefined) return undefined;
  return {
    prunedTo: integerColumn(row, "pruned_to"),
    prunedHash: textColumn(row, "pruned_hash"),
    sequence: integerColumn(row, "sequence"),
    hash: textColumn(row, "hash"),
  };
}

async function verifyChain(
  connection: Connection,
  chain: number,
  writer: string,
  read: Read,
): Promise<ChainVerdict | undefined> {
  for (;;) {
    const anchor = await read(() => readAnchor(connection, chain));
    if (anchor === undefined) return undefined;
    const verdict = await walk(connection, chain, writer, anchor, read);
    if (verdict.ok) return verdict;
    const after = await read(() => readAnchor(connection, chain));
    if (after?.prunedTo === anchor.prunedTo) return verdict;
  }
}

async function walk(
  connection: Connection,
  chain: number,
  writer: string,
  anchor: Anchor,
  read: Read,
): Promise<ChainVerdict> {
  let sequence = anchor.prunedTo;
  let hash = anchor.prunedHash;
  const broken = (reason: string): ChainVerdict => ({
    writer,
    length: sequence - anchor.prunedTo,
    ok: false,
    brokenAt: sequence + 1,
    reason,
  });
  const sql = `SELECT ${COLUMNS} FROM records WHERE chain = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ${PAGE}`;
  while (sequence < anchor.sequence) {
    const from = sequence;
    const rows = await read(() => connection.all(sql, chain, from, anchor.sequence));
    if (rows.length === 0) return broken("the newest records are missing");
    for (const row of rows) {
      const reason = mismatch(row, writer, sequence, hash);
      if (reason !== undefined) return broken(reason);
      sequence += 1;
      hash = textColumn(row, "hash");
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (hash !== anchor.hash)
    return { ...broken("the last record is not the one that was written"), brokenAt: sequence };
  const outside = await read(() => connection.get(COUNT_OUTSIDE, chain));
  if (integerColumn(outside ?? {}, "count") > 0)
    return broken("there are records that the chain does not know");
  return { writer, length: sequence - anchor.prunedTo, ok: true };
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
