// Appends a batched record and ends without closing anything. Arguments: state directory, how it ends: falls, exits, throws.
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const [dir, end] = process.argv.slice(2);
const store = await openSqliteStore({ dir, role: "leaver", clock: systemClock, random: systemRandom });
void store.records.append({ callId: end, kind: "opened", at: Date.now(), body: {} }, "batched");
if (end === "exits") process.exit(0);
if (end === "throws") throw new Error("on purpose");
