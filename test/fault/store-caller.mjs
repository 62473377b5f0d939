// Makes one writing call through the audit and stops for good at the mark that it was told, to be killed there.
// Arguments: state directory, the last mark: opened, decided, dispatched, sent, closed.
import { writeSync } from "node:fs";
import { createAudit } from "../../src/audit/trail.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const [dir, last] = process.argv.slice(2);
const store = await openSqliteStore({ dir, role: "caller", clock: systemClock, random: systemRandom });
const audit = createAudit({ records: store.records, clock: systemClock, redact: (value) => value });

async function reached(mark) {
  if (mark !== last) return;
  writeSync(1, `${mark}\n`);
  await new Promise((resolve) => setInterval(resolve, 1 << 30));
}

const trail = await audit.open({
  callId: "call",
  principal: "p",
  server: "s",
  tool: "t",
  grade: "L2",
  arguments: {},
});
await reached("opened");
trail.decided({ decision: "allow", grade: "L2", reasons: [] });
await reached("decided");
await trail.dispatched();
await reached("dispatched");
trail.attempt(1, { code: null, durationMs: 1 });
await reached("sent");
await trail.closed({ outcome: "completed", code: null, effect: "applied", durationMs: 1, attempts: 1 });
await reached("closed");
