/**
 * Drops the oldest records of each chain. The anchor of a chain (sequence and hash of the newest record that was dropped)
 * moves first and in the same transaction, so the rest still verifies; the triggers of the schema allow no other deletion.
 * A chain that is dropped as a whole goes with its row once nobody can write it any more.
 */
import type { Committer, Work } from "./postgres-commit.ts";
import type { Database } from "./postgres-connection.ts";
import { integerColumn } from "./rows.ts";

/** Few enough that nobody who appends waits long for the lock. */
const AT_ONCE = 500;
const TOPIC = "records";

const SELECT_OLD_CHAINS = `
  SELECT id FROM chains
  WHERE (SELECT at FROM records WHERE chain = chains.id ORDER BY sequence LIMIT 1) < $1 ORDER BY id`;
/** The newest of the oldest that are all too old. */
const MOVE_ANCHOR = `
  WITH oldest AS (
    SELECT sequence, hash, at FROM records WHERE chain = $1 ORDER BY sequence LIMIT ${AT_ONCE}
  ), last AS (
    SELECT sequence, hash FROM oldest
    WHERE sequence < coalesce((SELECT min(sequence) FROM oldest WHERE at >= $2), 9223372036854775807)
    ORDER BY sequence DESC LIMIT 1
  )
  UPDATE chains SET pruned_to = last.sequence, pruned_hash = last.hash FROM last WHERE id = $1 RETURNING pruned_to`;
const FORGET_OPEN = `
  DELETE FROM open_calls WHERE chain = $1 AND call_id IN
    (SELECT call_id FROM records WHERE chain = $1 AND sequence <= $2 AND kind = 'opened')`;
const DELETE_PRUNED = "DELETE FROM records WHERE chain = $1 AND sequence <= $2 RETURNING 1";
const DELETE_EMPTY = `
  DELETE FROM chains WHERE pruned_to = sequence AND writer <> $1 AND writer NOT IN (SELECT id FROM instances)`;
const FORGET_COMMITS = "DELETE FROM commits WHERE writer <> $1 AND writer NOT IN (SELECT id FROM instances)";

/**
 * @param ownWriter the writer of this process, whose chain goes on.
 * @returns how many records were dropped.
 */
export async function pruneChains(
  database: Database,
  committer: Committer,
  beforeMs: number,
  ownWriter: string,
): Promise<number> {
  await committer.settle();
  const chains = await database.read(SELECT_OLD_CHAINS, [beforeMs], (row) => integerColumn(row, "id"));
  let total = 0;
  for (const chain of chains) {
    for (;;) {
      const dropped = await committer.write([TOPIC], pruneSome(chain, beforeMs), false);
      total += dropped;
      if (dropped < AT_ONCE) break;
    }
  }
  await committer.write(
    [TOPIC],
    async (transaction) => {
      await Promise.all([
        transaction.query(DELETE_EMPTY, [ownWriter]),
        transaction.query(FORGET_COMMITS, [ownWriter]),
      ]);
    },
    false,
  );
  return total;
}

function pruneSome(chain: number, beforeMs: number): Work<number> {
  return async (transaction, touch) => {
    const [moved] = await transaction.query(MOVE_ANCHOR, [chain, beforeMs]);
    if (moved === undefined) return 0;
    const values = [chain, integerColumn(moved, "pruned_to")];
    const [, dropped] = await Promise.all([
      transaction.query(FORGET_OPEN, values),
      transaction.query(DELETE_PRUNED, values),
    ]);
    touch(TOPIC);
    return dropped.length;
  };
}
