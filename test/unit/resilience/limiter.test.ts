import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createLimiter, createRateLimiter } from "../../../src/resilience/limiter.ts";

const never = new AbortController().signal;

describe("limiter", () => {
  it("lets so many in, queues the next in order, refuses beyond the queue", async () => {
    const limiter = createLimiter("github", () => 1, 1);
    const leaveFirst = await limiter.enter(never);
    const second = limiter.enter(never);
    await expect(limiter.enter(never)).rejects.toMatchObject({ code: "queue_full" });
    expect(limiter).toMatchObject({ running: 1, waiting: 1 });
    leaveFirst();
    leaveFirst();
    const leaveSecond = await second;
    expect(limiter.running).toBe(1);
    leaveSecond();
    expect(limiter).toMatchObject({ running: 0, waiting: 0 });
  });

  it("takes another number of places over, up and down, without losing count", async () => {
    let places = 1;
    const limiter = createLimiter("github", () => places, 5);
    const leaves = [await limiter.enter(never)];
    const waiting = [limiter.enter(never), limiter.enter(never), limiter.enter(never)];
    places = 3;
    leaves[0]?.();
    leaves.push(...(await Promise.all(waiting)));
    expect(limiter).toMatchObject({ running: 3, waiting: 0 });
    places = 1;
    const late = limiter.enter(never);
    leaves[1]?.();
    leaves[2]?.();
    expect(limiter).toMatchObject({ running: 1, waiting: 1 });
    leaves[3]?.();
    (await late)();
    expect(limiter).toMatchObject({ running: 0, waiting: 0 });
  });

  it("an aborted wait leaves the queue and takes no place", async () => {
    const limiter = createLimiter("github", () => 1, 5);
    const leave = await limiter.enter(never);
    const controller = new AbortController();
    const waiting = limiter.enter(controller.signal);
    controller.abort(new Error("gave up"));
    await expect(waiting).rejects.toThrow("gave up");
    expect(limiter.waiting).toBe(0);
    leave();
    expect(limiter.running).toBe(0);
  });
});

describe("coming back", () => {
  it("goes before everybody who waits, also where the queue is full, and never beyond the number", async () => {
    const limiter = createLimiter("github", () => 1, 1);
    const leaveFirst = await limiter.enter(never);
    leaveFirst();
    const leaveSecond = await limiter.enter(never);
    const third = limiter.enter(never);
    const first = limiter.reenter(never);
    expect(limiter).toMatchObject({ running: 1, waiting: 2 });
    leaveSecond();
    (await first)();
    (await third)();
    expect(limiter).toMatchObject({ running: 0, waiting: 0 });
    const leave = await limiter.enter(never);
    const controller = new AbortController();
    const gone = limiter.reenter(controller.signal);
    controller.abort(new Error("gave up"));
    await expect(gone).rejects.toThrow("gave up");
    leave();
    expect(limiter).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe("rate limiter", () => {
  it("counts a sliding minute per key and says how long to wait", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter(clock);
    limiter.take("alice pay", 2);
    await clock.advance(30_000);
    limiter.take("alice pay", 2);
    limiter.take("bob pay", 2);
    expect(() => limiter.take("alice pay", 2)).toThrowError(
      expect.objectContaining({ code: "rate_limited", data: { retryAfterMs: 30_000 } }),
    );
    await clock.advance(30_000);
    limiter.take("alice pay", 2);
  });
});
