// A process of its own that opens a store and does what its parent asks over IPC. Arguments: state directory, or URL of a database.
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const place = process.argv[2];
const options = { role: "peer", clock: systemClock, random: systemRandom };
const store = place.startsWith("postgresql:")
  ? await openPostgresStore({ ...options, url: place })
  : await openSqliteStore({ ...options, dir: place });
const leases = new Map();
const aborts = new Map();
const watches = new Map();

const verbs = {
  get: (...args) => store.documents.get(...args),
  put: (...args) => store.documents.put(...args),
  delete: (...args) => store.documents.delete(...args),
  list: (...args) => store.documents.list(...args),
  append: (...args) => store.records.append(...args),
  query: (...args) => store.records.query(...args),
  scan: (filter) => Array.fromAsync(store.records.scan(filter)),
  listOpen: () => store.records.listOpen(),
  heads: () => store.records.heads(),
  verify: (...args) => store.records.verify(...args),
  prune: (...args) => store.records.prune(...args),
  instances: () => store.instances.list(),
  listDead: () => store.instances.listDead(),
  remove: (id) => store.instances.remove(id),
  async acquire(name, key) {
    const controller = new AbortController();
    aborts.set(key, controller);
    const lease = await store.leases.acquire(name, controller.signal);
    leases.set(key, lease);
    lease.signal.addEventListener("abort", () => process.send({ event: "aborted", key }), { once: true });
  },
  abort: (key, message) => aborts.get(key).abort(new Error(message)),
  release: (key) => leases.get(key).release(),
  watch(topic, key) {
    watches.set(
      key,
      store.watch(topic, () => process.send({ event: "changed", key })),
    );
  },
  unwatch: (key) => watches.get(key)(),
  flush: () => store.flush(),
  close: () => store.close(),
};

process.on("message", async ({ id, verb, args }) => {
  try {
    process.send({ id, value: await verbs[verb](...args) });
  } catch (error) {
    process.send({ id, failure: { code: error.code, message: error.message } });
  }
});
process.on("disconnect", () => process.exit());
process.send({ event: "ready", self: store.instances.self });
