import { describe, expect, it } from "vitest";
import { listActivity } from "../../src/audit/activity.ts";
import { recover } from "../../src/audit/recover.ts";
import { createAudit } from "../../src/audit/trail.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { runProgram, tempDir } from "./store-processes.ts";

const { signal } = new AbortController();

describe("kill -9 of a process in the middle of a writing call", () => {
  it.each([
    ["opened", "refused", "none", 1],
    ["decided", "refused", "none", 1],
    ["dispatched", "cancelled", "unknown", 1],
    ["sent", "cancelled", "unknown", 1],
    ["closed", "completed", "applied", 0],
  ])(
    "after `%s`: it is told as %s with effect %s, and a living process's call is left alone",
    async (mark, outcome, effect, count) => {
      const dir = tempDir();
      const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
      try {
        const audit = createAudit({ records: store.records, clock: systemClock, redact: (value) => value });
        const living = {
          callId: "living",
          principal: "p",
          server: "s",
          tool: "t",
          grade: "L2",
          arguments: {},
        } as const;
        const trail = await audit.open(living);
        await trail.dispatched();

        const run = await runProgram("caller", [dir, mark], 1);
        expect(run).toMatchObject({ lines: [[mark]], exitCode: null, stderr: "" });

        const before = (await listActivity(store, { callId: "call" }))[0];
        expect(before).toMatchObject({ outcome, effect });
        expect(await recover({ store, clock: systemClock, signal })).toHaveLength(count);
        expect(await recover({ store, clock: systemClock, signal })).toEqual([]);
        const after = (await listActivity(store, { callId: "call" }))[0];
        expect(after).toMatchObject({ outcome, effect, code: count === 0 ? null : "interrupted" });
        expect((await listActivity(store, { callId: "living" }))[0]).toMatchObject({
          state: "running",
          outcome: null,
        });
        expect(await store.instances.list()).toEqual([store.instances.self]);
        expect((await store.records.verify()).filter(({ ok }) => !ok)).toEqual([]);
        await audit.close();
      } finally {
        await store.close();
      }
    },
  );
});
