import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { countRunningTimers, systemClock } from "../../../src/base/clock.ts";

describe("manual clock", () => {
  it("fires timers in the order of their due time, however far it jumps", async () => {
    const clock = createManualClock();
    const fired: string[] = [];
    clock.timer(20, () => fired.push("b"));
    clock.timer(10, () => {
      fired.push("a");
      clock.timer(5, () => fired.push("a+5"));
    });
    await clock.advance(100);
    expect(fired).toEqual(["a", "a+5", "b"]);
    expect(clock.monotonic()).toBe(100);
  });

  it("ends a sleep with the reason of its signal and leaves no timer", async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const slept = clock.sleep(1_000, controller.signal);
    controller.abort(new Error("no longer wanted"));
    await expect(slept).rejects.toThrow("no longer wanted");
    expect(clock.pending()).toBe(0);
  });
});

describe("system clock", () => {
  it("counts running timers and forgets cancelled ones", () => {
    const before = countRunningTimers();
    const timer = systemClock.timer(60_000, () => undefined);
    expect(countRunningTimers()).toBe(before + 1);
    timer.cancel();
    timer.cancel();
    expect(countRunningTimers()).toBe(before);
  });
});
