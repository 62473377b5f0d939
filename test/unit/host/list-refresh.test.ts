import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createListRefresh } from "../../../src/host/list-refresh.ts";

const never = new AbortController().signal;

/** @param answers what each reading in turn comes to; `changed` when they are used up. */
function setUp(...answers: ("changed" | "same" | "fails" | "hangs")[]) {
  const clock = createManualClock();
  const readAtMs: number[] = [];
  const refresh = createListRefresh(clock, async (signal) => {
    readAtMs.push(clock.monotonic());
    const answer = answers.shift() ?? "changed";
    if (answer === "hangs") await clock.sleep(1_000_000, signal);
    if (answer === "fails") throw new Error("no list");
    return answer === "changed";
  });
  return { clock, refresh, readAtMs };
}

describe("announced changes", () => {
  it("a burst is read once, a quarter of a second later", async () => {
    const { clock, refresh, readAtMs } = setUp();
    for (let time = 0; time < 500; time += 1) refresh.announced();
    await clock.advance(10_000);
    expect(readAtMs).toEqual([250]);
    expect(clock.pending()).toBe(0);
  });

  it("who needs them has them read at once, together with all others who do", async () => {
    const { clock, refresh, readAtMs } = setUp();
    expect(refresh.settle(never)).toBeUndefined();
    refresh.announced();
    const settling = [refresh.settle(never), refresh.settle(never)];
    await clock.advance(0);
    expect(await Promise.all(settling)).toEqual([true, true]);
    expect(refresh.settle(never)).toBeUndefined();
    expect([readAtMs, clock.pending()]).toEqual([[0], 0]);
  });

  it("what is announced while it is read is read again, and waited for", async () => {
    const { clock, refresh, readAtMs } = setUp();
    refresh.announced();
    const settling = refresh.settle(never);
    refresh.announced();
    await clock.advance(250);
    expect(await settling).toBe(true);
    expect(readAtMs).toEqual([0, 250]);
  });

  it.each([
    ["a list that never comes", "hangs", 5_000],
    ["a list that cannot be had", "fails", 0],
  ] as const)("%s: nobody waits for ever", async (_what, how, untilMs) => {
    const { clock, refresh } = setUp(how);
    refresh.announced();
    const settling = refresh.settle(never);
    await clock.advance(untilMs);
    expect(await settling).toBe(false);
    refresh.stop();
    expect(clock.pending()).toBe(0);
  });

  it("a server that announces changes which are none is read ever more rarely, and not waited for", async () => {
    const { clock, refresh, readAtMs } = setUp(...Array.from({ length: 50 }, () => "same" as const));
    const waited: boolean[] = [];
    for (let second = 0; second < 120; second += 1) {
      refresh.announced();
      waited.push(refresh.settle(never) !== undefined);
      await clock.advance(1_000);
    }
    expect(waited.filter((was) => was)).toHaveLength(2);
    expect(readAtMs.length).toBeLessThan(12);
    // After a quiet time it is believed again.
    await clock.advance(60_000);
    refresh.announced();
    expect(refresh.settle(never)).toBeDefined();
    await clock.advance(0);
  });

  it("who gives up, or whose connection is over, waits no longer", async () => {
    const { clock, refresh } = setUp("hangs");
    const controller = new AbortController();
    refresh.announced();
    const given = refresh.settle(controller.signal);
    const left = refresh.settle(never);
    controller.abort(new Error("gave up"));
    await expect(given).rejects.toThrow("gave up");
    refresh.stop();
    expect(await left).toBe(false);
    expect(clock.pending()).toBe(0);
  });

  it("lists whose time is up are read in the background: nobody waits", async () => {
    const { clock, refresh, readAtMs } = setUp();
    refresh.due();
    refresh.due();
    expect(refresh.settle(never)).toBeUndefined();
    await clock.advance(250);
    expect(readAtMs).toEqual([250]);
  });
});
