// Writes to a store as fast as it can and tells on standard output, at once, what was acknowledged.
// Arguments: state directory, how many of each kind (`forever` until it is killed), readers at once.
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const [dir, times, readers = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ dir, role: "writer", clock: systemClock, random: systemRandom });
const { id } = store.instances.self;
const count = times === "forever" ? Number.POSITIVE_INFINITY : Number(times);
const tell = (...words) => writeSync(1, `${words.join(" ")}\n`);
tell("ready", id);

async function append(kind, durability) {
  for (let n = 1; n <= count; n += 1) {
    const callId = `${id}-${kind}-${n}`;
    await store.records.append(
      { callId, kind, at: Date.now(), body: { n, text: "x".repeat(200) } },
      durability,
    );
    tell("record", callId);
  }
}

async function put() {
  for (let n = 1; n <= count; n += 1) {
    await store.documents.put("pins", `${id}-${n % 20}`, { n });
    tell("document", `${id}-${n % 20}`, n);
  }
}

async function increment() {
  for (let done = 0; done < count;) {
    const found = await store.documents.get("breakers", "shared");
    const next = (found?.value ?? 0) + 1;
    const stored = await store.documents.put("breakers", "shared", next, { ifVersion: found?.version ?? 0 });
    if (stored === undefined) continue;
    done += 1;
    tell("counter", next);
  }
}

let isWriting = true;
async function read() {
  while (isWriting) {
    await store.records.query({ newestFirst: true, limit: 50 });
    await store.documents.list("pins");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const reading = Array.from({ length: Number(readers) }, read);
await Promise.all([
  append("durable", "durable"),
  append("second", "durable"),
  append("batched", "batched"),
  put(),
  increment(),
]);
isWriting = false;
await Promise.all(reading);
await store.close();
tell("done");
