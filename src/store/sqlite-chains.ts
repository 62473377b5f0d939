/** What the embedded store tells about its chains when they are checked. */
import type { Connection } from "./sqlite-connection.ts";
import { integerColumn, textColumn } from "./rows.ts";
import { toChainEnds, type ChainReader } from "./verify.ts";

const PAGE = 500;
const SELECT_ENDS = "SELECT sequence, hash, pruned_to, pruned_hash FROM chains WHERE id = ?";
const SELECT_PAGE = `
  SELECT sequence, call_id, kind, at, body, previous_hash, hash FROM records
  WHERE chain = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ${PAGE}`;

/** Jumps from chain to chain in the index instead of reading it all. */
const SELECT_STRAYS = `
  WITH RECURSIVE found (chain) AS (
    SELECT min(chain) FROM records
    UNION ALL SELECT (SELECT min(chain) FROM records WHERE chain > found.chain) FROM found WHERE chain IS NOT NULL
  ) SELECT chain FROM found WHERE chain IS NOT NULL AND chain NOT IN (SELECT id FROM chains)`;
const COUNT_OUTSIDE = `
  SELECT count(*) AS count FROM chains c JOIN records r ON r.chain = c.id AND (r.sequence > c.sequence OR r.sequence <= c.pruned_to)
  WHERE c.id = ?`;

type Read = <T>(work: () => T) => Promise<T>;

/** @param read runs one step; between steps others may write. */
export function createSqliteChains(connection: Connection, read: Read): ChainReader {
  return {
    async list(writer) {
      return read(() => {
        const rows =
          writer === undefined
            ? connection.all("SELECT id, writer FROM chains ORDER BY id")
            : connection.all("SELECT id, writer FROM chains WHERE writer = ?", writer);
        return rows.map((row) => ({ chain: integerColumn(row, "id"), writer: textColumn(row, "writer") }));
      });
    },
    async strays() {
      return read(() => connection.all(SELECT_STRAYS).map((row) => integerColumn(row, "chain")));
    },
    async ends(chain) {
      return read(() => {
        const row = connection.get(SELECT_ENDS, chain);
        return row === undefined ? undefined : toChainEnds(row);
      });
    },
    async page(chain, after, to) {
      // A turn of the event loop between pages: SQLite answers in this very one.
      await new Promise<void>((resolve) => setImmediate(resolve));
      return read(() => connection.all(SELECT_PAGE, chain, after, to));
    },
    async countOutside(chain) {
      return read(() => integerColumn(connection.get(COUNT_OUTSIDE, chain) ?? {}, "count"));
    },
  };
}
