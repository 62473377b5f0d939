/** Closes its stdout on the first request and lives on, also past the end of stdin. */
import { closeSync } from "node:fs";

process.stdin.once("data", () => closeSync(1));
setInterval(() => undefined, 1_000);
