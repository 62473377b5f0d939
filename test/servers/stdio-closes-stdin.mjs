/** Closes its stdin when it has answered the first request, and lives on. */
import { closeSync, readSync } from "node:fs";

const bytes = Buffer.alloc(65_536);
const { id } = JSON.parse(bytes.toString("utf8", 0, readSync(0, bytes)));
closeSync(0);
process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
// Lives on, but not for ever where a test fails.
setTimeout(() => process.exit(9), 120_000);
