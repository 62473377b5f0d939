/** What the PostgreSQL store tells about its chains when they are checked. */
import type { Database } from "./postgres-connection.ts";
import { integerColumn, textColumn } from "./rows.ts";
import { toChainEnds, type ChainReader } from "./verify.ts";

const PAGE = 500;
const SELECT_PAGE = `
  SELECT sequence, call_id, kind, at, body, previous_hash, hash FROM records
  WHERE chain = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence LIMIT ${PAGE}`;
const SELECT_CHAINS = "SELECT id, writer FROM chains WHERE $1::text IS NULL OR writer = $1 ORDER BY id";
const SELECT_ENDS = "SELECT sequence, hash, pruned_to, pruned_hash FROM chains WHERE id = $1";
/** Jumps from chain to chain in the index instead of reading it all. */
const SELECT_STRAYS = `
  WITH RECURSIVE found (chain) AS (
    SELECT min(chain) FROM records
    UNION ALL SELECT (SELECT min(chain) FROM records WHERE chain > found.chain) FROM found WHERE chain IS NOT NULL
  ) SELECT chain FROM found WHERE chain IS NOT NULL AND chain NOT IN (SELECT id FROM chains)`;
const COUNT_OUTSIDE = `
  SELECT count(*) AS count FROM chains c JOIN records r ON r.chain = c.id AND (r.sequence > c.sequence OR r.sequence <= c.pruned_to)
  WHERE c.id = $1`;

export function createPostgresChains(database: Database): ChainReader {
  return {
    list(writer) {
      return database.read(SELECT_CHAINS, [writer ?? null], (row) => ({
        chain: integerColumn(row, "id"),
        writer: textColumn(row, "writer"),
      }));
    },
    strays: () => database.read(SELECT_STRAYS, [], (row) => integerColumn(row, "chain")),
    ends: async (chain) => (await database.read(SELECT_ENDS, [chain], toChainEnds))[0],
    page: (chain, after, to) => database.read(SELECT_PAGE, [chain, after, to], (row) => row),
    countOutside: async (chain) =>
      (await database.read(COUNT_OUTSIDE, [chain], (row) => integerColumn(row, "count")))[0] ?? 0,
  };
}
