import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createPacedPipe } from "../../../src/transport/paced-pipe.ts";

function setUp() {
  const clock = createManualClock();
  const stream = new Readable({ read: () => undefined });
  stream.on("data", () => undefined);
  return { clock, stream, pipe: createPacedPipe(stream, clock) };
}

describe("a paced pipe", () => {
  it("reads a burst at once, then no more than 25,000 units a second", async () => {
    const { clock, stream, pipe } = setUp();
    pipe.spend(5_000);
    expect(stream.isPaused()).toBe(false);
    pipe.spend(2_500);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(99);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(1);
    expect(stream.isPaused()).toBe(false);
    pipe.spend(250);
    expect(stream.isPaused()).toBe(true);
  });

  it("a flood of an hour is read at the rate, not faster", async () => {
    const { clock, stream, pipe } = setUp();
    let taken = 0;
    while (clock.monotonic() < 3_600_000) {
      pipe.spend(40_000);
      taken += 40_000;
      const dueMs = clock.nextDueInMs() ?? 0;
      if (stream.isPaused()) await clock.advance(dueMs);
    }
    expect(taken / 3_600).toBeLessThan(25_100);
    expect(taken / 3_600).toBeGreaterThan(24_000);
  });

  it("what is not spent adds up to one burst", async () => {
    const { clock, stream, pipe } = setUp();
    pipe.spend(5_000);
    await clock.advance(60_000);
    pipe.spend(5_000);
    expect(stream.isPaused()).toBe(false);
    pipe.spend(200);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(clock.nextDueInMs() ?? 0);
  });

  it("once released it reads on, and is never paused again", () => {
    const { clock, stream, pipe } = setUp();
    pipe.spend(50_000);
    expect(stream.isPaused()).toBe(true);
    pipe.release();
    expect(stream.isPaused()).toBe(false);
    pipe.spend(50_000);
    expect(stream.isPaused()).toBe(false);
    expect(clock.pending()).toBe(0);
  });
});
