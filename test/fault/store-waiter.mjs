// Waits for a lease with nothing else to do, and for a write lock that somebody may hold. Arguments: state directory, lease.
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const [dir, name] = process.argv.slice(2);
const store = await openSqliteStore({ dir, role: "waiter", clock: systemClock, random: systemRandom });
const acquiring = store.leases.acquire(name, new AbortController().signal);
await store.documents.put("health", "waiter", 1);
writeSync(1, "waiting\n");
const lease = await acquiring;
writeSync(1, "acquired\n");
await lease.release();
await store.close();
