// Opens a store, tells its instance, optionally takes a lease, and stays until it is killed.
// Arguments: state directory, kind of liveness, name of a lease.
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const [dir, liveness, leaseName] = process.argv.slice(2);
const store = await openSqliteStore({
  dir,
  role: "holder",
  clock: systemClock,
  random: systemRandom,
  liveness,
});
if (leaseName !== undefined) await store.leases.acquire(leaseName, new AbortController().signal);
process.send({ id: store.instances.self.id });
process.on("disconnect", () => process.exit());
