/**
 * Drops the oldest records of each chain. The anchor of a chain (sequence and hash of the newest record that was dropped)
 * moves first and in the same transaction, so the rest still verifies; the triggers of the schema allow no other deletion.
 * A chain that is dropped as a whole goes with its row once nobody can write it any more.
 */
import type { Committer, Touch } from "./sqlite-commit.ts";
import type { Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn } from "./rows.ts";

/** Few enough that no other process waits long for the lock. */
const AT_ONCE = 500;
const PAGES_AT_ONCE = 500;
/** The share of the file that may stay free. */
const FREE_KEPT = 0.2;

const SELECT_OLD_CHAINS = `
  SELECT id FROM chains WHERE (SELECT at FROM records WHERE chain = chains.id ORDER BY sequence LIMIT 1) < ?`;
const SELECT_OLDEST = "SELECT sequence, hash, at FROM records WHERE chain = ? ORDER BY sequence LIMIT ?";
const MOVE_ANCHOR = "UPDATE chains SET pruned_to = ?, pruned_hash = ? WHERE id = ?";
const FORGET_OPEN = `
  DELETE FROM open_calls WHERE chain = ?1 AND call_id IN
    (SELECT call_id FROM records WHERE chain = ?1 AND sequence <= ?2 AND kind = 'opened')`;
const DELETE_PRUNED = "DELETE FROM records WHERE chain = ? AND sequence <= ?";
const DELETE_EMPTY = `
  DELETE FROM chains WHERE pruned_to = sequence AND writer <> ? AND writer NOT IN (SELECT id FROM instances)`;

/**
 * @param ownWriter the writer of this process, whose chain goes on.
 * @returns how many records were dropped.
 */
export async function pruneChains(
  connection: Connection,
  committer: Committer,
  beforeMs: number,
  ownWriter: string,
): Promise<number> {
  const chains = await committer.write(
    () => connection.all(SELECT_OLD_CHAINS, beforeMs).map((row) => integerColumn(row, "id")),
    false,
  );
  let total = 0;
  for (const chain of chains) {
    for (;;) {
      const dropped = await committer.write((touch) => pruneSome(connection, chain, beforeMs, touch), false);
      total += dropped;
      if (dropped < AT_ONCE) break;
    }
  }
  await committer.write(() => connection.run(DELETE_EMPTY, ownWriter), false);
  if (total > 0) while (await committer.write(() => giveBack(connection), false));
  return total;
}

/**
 * Gives some of the pages that are free back to the disk, where they are more than the next records will soon fill.
 *
 * @returns whether there is more to give.
 */
function giveBack(connection: Connection): boolean {
  const free = integerColumn(connection.get("PRAGMA freelist_count") ?? {}, "freelist_count");
  const all = integerColumn(connection.get("PRAGMA page_count") ?? {}, "page_count");
  if (free <= all * FREE_KEPT) return false;
  connection.all(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
  return free > PAGES_AT_ONCE;
}

function pruneSome(connection: Connection, chain: number, beforeMs: number, touch: Touch): number {
  let last: { readonly sequence: number; readonly hash: string } | undefined;
  let count = 0;
  for (const row of connection.all(SELECT_OLDEST, chain, AT_ONCE)) {
    if (integerColumn(row, "at") >= beforeMs) break;
    last = { sequence: integerColumn(row, "sequence"), hash: textColumn(row, "hash") };
    count += 1;
  }
  if (last === undefined) return 0;
  connection.run(MOVE_ANCHOR, last.sequence, last.hash, chain);
  connection.run(FORGET_OPEN, chain, last.sequence);
  connection.run(DELETE_PRUNED, chain, last.sequence);
  touch("records");
  return count;
}
