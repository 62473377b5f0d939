/** Records for somebody else's eyes: JSON Lines, one record per line, each with its place in the chain. */
import { canonicalJson } from "../base/json.ts";
import type { RecordFilter, Records } from "../store/store.ts";

/**
 * One line per record that matches, in the order of commitment, each ending in a line feed. The hash of a line's record is
 * the SHA-256 of its canonical JSON without the member `hash`, so a whole chain can be checked without Portcullis.
 */
export async function* exportRecords(records: Records, filter: RecordFilter = {}): AsyncGenerator<string> {
  for await (const record of records.scan(filter)) yield `${canonicalJson(record)}\n`;
}
