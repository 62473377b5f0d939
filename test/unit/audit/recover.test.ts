import { describe, expect, it } from "vitest";
import { recover } from "../../../src/audit/recover.ts";
import type { CallActivity } from "../../../src/audit/fold.ts";
import { call, openAuditBench, type AuditBench } from "./audit-bench.ts";

const { signal } = new AbortController();

const run = ({ store, clock }: AuditBench): Promise<readonly CallActivity[]> =>
  recover({ store, clock, signal });

/** Three calls that stand at different marks when their process leaves without closing them. */
async function leaveOpen(bench: AuditBench): Promise<void> {
  await bench.audit.open(call({ callId: "asked" }));
  await (await bench.audit.open(call({ callId: "sent" }))).dispatched();
  const reading = await bench.audit.open(call({ callId: "reading", grade: "L0" }));
  await reading.dispatched();
  bench.audit.release();
  await bench.store.flush();
}

describe("recovery", () => {
  it("closes what a process that is gone left open, as its marks say, and nothing else", async () => {
    const bench = await openAuditBench();
    const gone = await openAuditBench({ dir: bench.dir });
    await leaveOpen(gone);
    await (await bench.audit.open(call({ callId: "mine" }))).dispatched();
    await gone.store.close();
    const recovered = await run(bench);
    expect(recovered.map(({ callId, outcome, effect }) => [callId, outcome, effect])).toEqual([
      ["asked", "refused", "none"],
      ["reading", "cancelled", "none"],
      ["sent", "cancelled", "unknown"],
    ]);
    const closings = await bench.store.records.query({ kinds: ["closed"] });
    expect(
      closings.map(({ callId, body }) => [callId, body["outcome"], body["code"], body["effect"]]),
    ).toEqual([
      ["asked", "refused", "interrupted", "none"],
      ["reading", "cancelled", "interrupted", "none"],
      ["sent", "cancelled", "interrupted", "unknown"],
    ]);
    expect((await bench.store.records.listOpen()).map(({ callId }) => callId)).toEqual(["mine"]);
    expect(await run(bench)).toEqual([]);
    expect((await bench.store.records.verify()).every(({ ok }) => ok)).toBe(true);
  });

  it("never touches a call of a living process", async () => {
    const bench = await openAuditBench();
    const living = await openAuditBench({ dir: bench.dir });
    await leaveOpen(living);
    expect(await run(bench)).toEqual([]);
    expect(await bench.store.records.listOpen()).toHaveLength(3);
    expect(await bench.store.instances.list()).toHaveLength(2);
  });

  it("closes each call once, however many recover at once", async () => {
    const gone = await openAuditBench();
    await leaveOpen(gone);
    const [one, other] = [await openAuditBench({ dir: gone.dir }), await openAuditBench({ dir: gone.dir })];
    await gone.store.close();
    // Each waits for the other's lease on a clock of its own.
    const both = Promise.all([run(one), run(other)]);
    for (let turn = 0; turn < 20; turn += 1) {
      await one.clock.advance(100);
      await other.clock.advance(100);
    }
    expect((await both).flat()).toHaveLength(3);
    expect(await one.store.records.query({ kinds: ["closed"] })).toHaveLength(3);
  });
});
