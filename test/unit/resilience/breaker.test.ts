import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { PortcullisError } from "../../../src/errors.ts";
import {
  closedBreaker,
  createBreaker,
  defaultBreakerPlan,
  nextBreaker,
  type BreakerState,
} from "../../../src/resilience/breaker.ts";

const FIVE_MINUTES_MS = 300_000;

function failTimes(breaker: ReturnType<typeof createBreaker>, times: number): void {
  for (let call = 0; call < times; call += 1) breaker.enter().end("failed");
}

describe("breaker", () => {
  it("opens at the tenth failure in a row and refuses with the time of the next try", () => {
    const clock = createManualClock(1_000);
    const breaker = createBreaker({ clock, name: "github" });
    failTimes(breaker, 9);
    expect(breaker.state.kind).toBe("closed");
    failTimes(breaker, 1);
    expect(breaker.state).toEqual({ kind: "open", failures: 10, untilMs: 1_000 + FIVE_MINUTES_MS });
    expect(() => breaker.enter()).toThrow(PortcullisError);
  });

  it("a success in between clears the count", () => {
    const breaker = createBreaker({ clock: createManualClock(), name: "github" });
    failTimes(breaker, 9);
    breaker.enter().end("succeeded");
    failTimes(breaker, 9);
    expect(breaker.state).toEqual({ kind: "closed", failures: 9 });
  });

  it("after five minutes one probe goes through and decides, the others are refused", async () => {
    const clock = createManualClock();
    const breaker = createBreaker({ clock, name: "github" });
    failTimes(breaker, 10);
    await clock.advance(FIVE_MINUTES_MS);
    const probe = breaker.enter();
    expect(() => breaker.enter()).toThrow(/left alone/);
    probe.end("failed");
    expect(breaker.state.kind).toBe("open");
    await clock.advance(FIVE_MINUTES_MS);
    breaker.enter().end("succeeded");
    expect(breaker.state).toEqual(closedBreaker);
  });

  it("an abandoned probe lets the next call probe at once", async () => {
    const clock = createManualClock();
    const breaker = createBreaker({ clock, name: "github" });
    failTimes(breaker, 10);
    await clock.advance(FIVE_MINUTES_MS);
    breaker.enter().end("abandoned");
    breaker.enter().end("succeeded");
    expect(breaker.state.kind).toBe("closed");
  });

  it("a failed start counts once, and after the time to wait it decides like a probe", async () => {
    const clock = createManualClock();
    const breaker = createBreaker({ clock, name: "github" });
    for (let start = 0; start < 10; start += 1) {
      const origin = {};
      breaker.fail(origin);
      breaker.fail(origin);
      expect(breaker.state.failures).toBe(start + 1);
    }
    expect(breaker.state.kind).toBe("open");
    breaker.fail({});
    expect(breaker.state).toMatchObject({ kind: "open", failures: 10 });
    await clock.advance(FIVE_MINUTES_MS);
    breaker.check();
    breaker.fail({});
    expect(breaker.state).toMatchObject({ kind: "open", failures: 11 });
    expect(() => breaker.check()).toThrow(/left alone for another 300 s/);
  });

  it("a call that began before it opened decides nothing afterwards", () => {
    const breaker = createBreaker({ clock: createManualClock(), name: "github" });
    const slow = breaker.enter();
    failTimes(breaker, 10);
    slow.end("succeeded");
    expect(breaker.state.kind).toBe("open");
  });

  it("never opens below the threshold and never closes without a success", () => {
    const events = fc.array(
      fc.record({ event: fc.constantFrom("succeeded", "failed", "abandoned"), wasProbe: fc.boolean() }),
    );
    fc.assert(
      fc.property(events, (sequence) => {
        let state: BreakerState = closedBreaker;
        let inARow = 0;
        for (const { event, wasProbe } of sequence as {
          event: "succeeded" | "failed" | "abandoned";
          wasProbe: boolean;
        }[]) {
          const before: BreakerState = state;
          state = nextBreaker(state, event, wasProbe, 0, defaultBreakerPlan);
          inARow = event === "failed" ? inARow + 1 : event === "succeeded" ? 0 : inARow;
          if (before.kind === "closed" && state.kind === "open") expect(inARow).toBeGreaterThanOrEqual(10);
          if (before.kind !== "closed" && state.kind === "closed") expect(event).toBe("succeeded");
        }
      }),
    );
  });
});
