import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createUse } from "../../../src/connection/use.ts";

function setUp(idleMs: number | null = 1_000) {
  const clock = createManualClock();
  let idle = 0;
  const use = createUse({
    clock,
    idleMs: () => idleMs,
    onIdle: () => {
      idle += 1;
      use.stop();
    },
  });
  return { clock, use, idle: () => idle };
}

describe("use", () => {
  it.each(["call", "watch"] as const)("what a %s uses is not idle, and is so long after it", async (kind) => {
    const { clock, use, idle } = setUp();
    use.watch();
    await clock.advance(900);
    const end = use.begin(kind);
    await clock.advance(10_000);
    end();
    end();
    await clock.advance(999);
    expect(idle()).toBe(0);
    await clock.advance(1);
    expect([idle(), clock.pending()]).toEqual([1, 0]);
  });

  it("one timer serves many uses, and none runs where nothing is watched or nothing ends it", async () => {
    const { clock, use } = setUp();
    use.begin()();
    expect(clock.pending()).toBe(0);
    use.watch();
    for (let time = 0; time < 100; time += 1) use.begin()();
    expect(clock.pending()).toBe(1);
    use.stop();
    expect(clock.pending()).toBe(0);
    const kept = setUp(null);
    kept.use.watch();
    await kept.clock.advance(1_000_000);
    expect([kept.idle(), kept.clock.pending()]).toEqual([0, 0]);
  });

  it("is over when the last call has ended; who only listens is not waited for", async () => {
    const { clock, use } = setUp();
    const ends = [use.begin(), use.begin()];
    use.begin("watch");
    let isOver = false;
    void use.over().then(() => {
      isOver = true;
    });
    ends[0]?.();
    await clock.advance(0);
    expect([isOver, use.calls]).toEqual([false, 1]);
    ends[1]?.();
    await clock.advance(0);
    expect([isOver, use.calls]).toEqual([true, 0]);
    await use.over();
  });
});
