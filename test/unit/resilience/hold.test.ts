import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { createHold } from "../../../src/resilience/hold.ts";

function setUp() {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 14, 2, 0));
  return { clock, hold: createHold(clock, "github") };
}

function refusalOf(wait: () => number): PortcullisError {
  try {
    wait();
  } catch (error) {
    if (error instanceof PortcullisError) return error;
  }
  throw new Error("it was expected to refuse");
}

describe("a hold", () => {
  const MINUTE_MS = 60_000;

  it("of a few seconds is waited for, a longer one is told with its end", async () => {
    const { clock, hold } = setUp();
    expect(hold.waitMs(MINUTE_MS)).toBe(0);
    hold.ask(5_000);
    expect(hold.waitMs(MINUTE_MS)).toBe(5_000);
    hold.ask(11_000);
    const refusal = refusalOf(() => hold.waitMs(MINUTE_MS));
    expect(refusal.code).toBe("server_unavailable");
    expect(refusal.message).toBe("`github` asked to be left alone for another 11 s, until 14:02:11 UTC");
    expect(refusal.data).toEqual({
      because: "rate_limited",
      retryAfterMs: 11_000,
      retryAtMs: clock.now() + 11_000,
      wasSent: false,
    });
    await clock.advance(7_000);
    expect(hold.waitMs(MINUTE_MS)).toBe(4_000);
    await clock.advance(4_000);
    expect([hold.waitMs(MINUTE_MS), hold.leftMs()]).toEqual([0, 0]);
  });

  it("is not waited for beyond what the call has left", () => {
    const { hold } = setUp();
    expect(hold.waitMs(-1)).toBe(0);
    hold.ask(3_000);
    expect(hold.waitMs(3_000)).toBe(3_000);
    expect(refusalOf(() => hold.waitMs(2_999)).code).toBe("server_unavailable");
  });

  it.each([
    ["the longest that was asked for counts", [20_000, 1_000], 20_000],
    ["a day is five minutes", [86_400_000], 300_000],
    ["nothing is nothing", [0], 0],
  ] as const)("%s", (_what, asked, leftMs) => {
    const { hold } = setUp();
    for (const forMs of asked) hold.ask(forMs);
    expect(hold.leftMs()).toBe(leftMs);
    hold.clear();
    expect(hold.leftMs()).toBe(0);
  });
});
