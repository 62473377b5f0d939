/** Closes its stdout on the first request and lives on, also past the end of stdin. */
import { closeSync } from "node:fs";

process.stdin.once("data", () => closeSync(1));
// Lives on, but not for ever where a test fails.
setTimeout(() => process.exit(9), 120_000);
