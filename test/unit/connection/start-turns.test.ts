import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createStartTurns } from "../../../src/connection/start-turns.ts";

function setUp(more: { readonly failures?: number; readonly most?: number } = {}) {
  const clock = createManualClock();
  const asked: number[] = [];
  const letIn: (() => void)[] = [];
  const limits: number[] = [];
  let held = 0;
  const turns = createStartTurns({
    clock,
    signal: new AbortController().signal,
    failures: 0,
    most: 4,
    ...more,
    limitMs: () => 30_000,
    onLimit: (limitMs) => limits.push(limitMs),
    admit: async (_signal, failures) => {
      asked.push(failures);
      await new Promise<void>((resolve) => letIn.push(resolve));
      held += 1;
      let isHeld = true;
      return () => {
        if (isHeld) held -= 1;
        isHeld = false;
      };
    },
  });
  return { clock, turns, asked, letIn, limits, held: () => held };
}

describe("the turns of a start", () => {
  it("each process waits for a place of its own, as one that failed once more", async () => {
    const { turns, asked, letIn, held } = setUp({ failures: 1 });
    const first = turns.next();
    letIn[0]?.();
    expect(await first).toBe(true);
    expect([held(), turns.count]).toEqual([1, 1]);
    const second = turns.next();
    expect(held()).toBe(0);
    letIn[1]?.();
    expect(await second).toBe(true);
    expect([asked, held(), turns.count]).toEqual([[1, 2], 1, 2]);
    turns.end();
    turns.end();
    expect(held()).toBe(0);
  });

  it("the time that they may take together stands still while it waits for a place", async () => {
    const { clock, turns, letIn, limits } = setUp();
    const first = turns.next();
    await clock.advance(60_000);
    letIn[0]?.();
    await first;
    await clock.advance(20_000);
    const second = turns.next();
    await clock.advance(60_000);
    letIn[1]?.();
    await second;
    await clock.advance(9_999);
    expect(limits).toEqual([]);
    await clock.advance(1);
    expect(limits).toEqual([30_000]);
    turns.end();
    expect(clock.pending()).toBe(0);
  });

  it("there is always a first, and none beyond the most", async () => {
    const { turns, letIn } = setUp({ most: 0 });
    const first = turns.next();
    letIn[0]?.();
    expect(await first).toBe(true);
    expect(await turns.next()).toBe(false);
    turns.end();
  });
});
