import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { PortcullisError, type ErrorCode } from "../../../src/errors.ts";
import { createBreaker } from "../../../src/resilience/breaker.ts";
import { createHold } from "../../../src/resilience/hold.ts";
import { createLimiter } from "../../../src/resilience/limiter.ts";
import { createRetryBudget } from "../../../src/resilience/retry.ts";
import { run, type RunPlan } from "../../../src/resilience/run.ts";

function setUp(overrides: Partial<RunPlan> = {}) {
  const clock = createManualClock();
  const deps = { clock, random: createSeededRandom(1) };
  const limiter = createLimiter("github", () => 2, 2);
  const plan: RunPlan = {
    signal: new AbortController().signal,
    totalMs: 60_000,
    mayRepeat: () => true,
    budget: createRetryBudget(),
    limiters: () => ({ all: [limiter] }),
    breaker: createBreaker({ clock, name: "github" }),
    hold: createHold(clock, "github"),
    ...overrides,
  };
  return { clock, deps, limiter, plan };
}

const lost = (): PortcullisError => new PortcullisError("connection_lost", "gone");

async function settle<T>(clock: ReturnType<typeof createManualClock>, promise: Promise<T>, ms = 60_000) {
  const settled = promise.then(
    (value) => ({ value }),
    (error: PortcullisError) => ({ error }),
  );
  await clock.advance(ms);
  return settled;
}

describe("run", () => {
  it("repeats what may be repeated, at most twice, and gives the place back while it waits", async () => {
    const { clock, deps, limiter, plan } = setUp();
    const heldWhileWaiting: number[] = [];
    let tries = 0;
    const result = await settle(
      clock,
      run(deps, { ...plan, onRetry: () => heldWhileWaiting.push(limiter.running) }, async () => {
        tries += 1;
        throw lost();
      }),
    );
    expect(result).toMatchObject({ error: { code: "connection_lost" } });
    expect(tries).toBe(3);
    expect(heldWhileWaiting).toEqual([0, 0]);
  });

  it("never repeats what may have an effect", async () => {
    const { clock, deps, plan } = setUp({ mayRepeat: () => false });
    let tries = 0;
    await settle(
      clock,
      run(deps, plan, async () => {
        tries += 1;
        throw lost();
      }),
    );
    expect(tries).toBe(1);
  });

  it("twenty failing calls of one turn send at most 20 + 5 requests", async () => {
    const { clock, deps, plan } = setUp({ limiters: () => ({ all: [] }) });
    let sent = 0;
    const calls = Array.from({ length: 20 }, (_unused, call) =>
      run(deps, { ...plan, breaker: createBreaker({ clock, name: `s${call}` }) }, async () => {
        sent += 1;
        throw lost();
      }),
    );
    await settle(clock, Promise.allSettled(calls));
    expect(sent).toBe(25);
  });

  it.each<[ErrorCode, Record<string, unknown>, boolean]>([
    ["tool_error", {}, false],
    ["remote_error", {}, false],
    ["invalid_arguments", {}, false],
    ["auth_required", {}, false],
    ["queue_full", {}, false],
    ["http_error", { status: 404 }, false],
    ["http_error", { status: 503 }, true],
    ["connection_lost", {}, true],
    ["timed_out", {}, true],
    ["process_exited", {}, true],
  ])("%s %o counts for the breaker: %s", async (code, data, counts) => {
    const { clock, deps, plan } = setUp({ mayRepeat: () => false });
    await settle(
      clock,
      run(deps, plan, async () => {
        throw new PortcullisError(code, "x", { data });
      }),
    );
    expect(plan.breaker.state).toEqual({ kind: "closed", failures: counts ? 1 : 0 });
  });

  it("the deadline spans attempts and the waits between them: each attempt is told what is left", async () => {
    const { clock, deps, plan } = setUp({ totalMs: 1_000 });
    const told: number[] = [];
    const result = await settle(
      clock,
      run(deps, plan, async (_attempt, leftMs) => {
        told.push(leftMs);
        await clock.sleep(400);
        throw lost();
      }),
    );
    expect(result).toMatchObject({ error: { code: "connection_lost" } });
    const [first, second, third] = told;
    expect(first).toBe(1_000);
    expect(second).toBeLessThan(600);
    expect(third).toBeUndefined();
    expect(clock.pending()).toBe(0);
  });

  it("waiting for a connection is not counted and holds no place", async () => {
    const held: number[] = [];
    const { clock, deps, limiter, plan } = setUp({ totalMs: 1_000 });
    const told: number[] = [];
    await settle(
      clock,
      run(
        deps,
        {
          ...plan,
          ready: async () => {
            held.push(limiter.running);
            await clock.sleep(30_000);
          },
        },
        async (_attempt, leftMs) => told.push(leftMs),
      ),
    );
    expect([held, told]).toEqual([[0], [1_000]]);
  });

  it("a connection that was lost in the queue is waited for again, without the place", async () => {
    let isUp = false;
    let waits = 0;
    const { clock, deps, limiter, plan } = setUp();
    const result = await settle(
      clock,
      run(
        deps,
        {
          ...plan,
          ready: async () => {
            expect(limiter.running).toBe(0);
            waits += 1;
            isUp = waits > 1;
          },
          isReady: () => isUp,
        },
        async () => "sent",
      ),
    );
    expect(result).toEqual({ value: "sent" });
    expect(waits).toBe(2);
  });

  it("whoever waits in the queue until the deadline is told so, and that nothing was sent", async () => {
    const { clock, deps, limiter, plan } = setUp({ totalMs: 5_000 });
    const never = new AbortController().signal;
    const places = [await limiter.enter(never), await limiter.enter(never)];
    const result = await settle(
      clock,
      run(deps, plan, async () => "never"),
    );
    expect(result).toMatchObject({ error: { code: "queue_full", data: { wasSent: false } } });
    expect([limiter.waiting, plan.breaker.state]).toEqual([0, { kind: "closed", failures: 0 }]);
    for (const leave of places) leave();
  });

  it("a wait that the peer asks for is obeyed up to a minute, and told beyond", async () => {
    for (const [retryAfterMs, tries] of [
      [30_000, 3],
      [61_000, 1],
      [86_400_000, 1],
    ] as const) {
      const { clock, deps, plan } = setUp({ totalMs: 600_000 });
      let sent = 0;
      const times: number[] = [];
      const result = await settle(
        clock,
        run(deps, plan, async () => {
          sent += 1;
          times.push(clock.monotonic());
          throw new PortcullisError("rate_limited", "429", { data: { retryAfterMs } });
        }),
        600_000,
      );
      expect(sent).toBe(tries);
      expect(result).toMatchObject({ error: { code: "rate_limited", data: { retryAfterMs } } });
      if (tries > 1) expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(retryAfterMs);
    }
  });

  it("what one call is asked to wait holds every other: told at once, or waited for where it is short", async () => {
    const { clock, deps, plan, limiter } = setUp({ mayRepeat: () => false });
    const told = async (retryAfterMs: number): Promise<void> => {
      const refuse = async (): Promise<never> => {
        throw new PortcullisError("http_error", "503", { data: { status: 503, retryAfterMs } });
      };
      expect(await settle(clock, run(deps, plan, refuse), 0)).toMatchObject({
        error: { code: "http_error" },
      });
    };
    const sentAtMs: number[] = [];
    const send = (): Promise<void> =>
      run(deps, plan, async () => {
        sentAtMs.push(clock.monotonic());
      });
    await told(30_000);
    const held = { code: "server_unavailable", data: { retryAfterMs: 30_000, wasSent: false } };
    expect(await settle(clock, send(), 0)).toMatchObject({ error: held });
    await clock.advance(27_000);
    const waiting = send();
    await clock.advance(2_999);
    expect([sentAtMs, limiter.running]).toEqual([[], 0]);
    await clock.advance(1);
    await waiting;
    expect(sentAtMs).toEqual([30_000]);
  });

  it("a server that asks for a moment more again and again is waited for as long as the call has, and no longer", async () => {
    const { clock, deps, plan } = setUp({ totalMs: 10_000 });
    plan.hold.ask(3_000);
    const waiting = run(deps, plan, () => Promise.reject(new Error("it was sent")));
    const ended = waiting.catch((error: PortcullisError) => [error.code, clock.monotonic()]);
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000);
      plan.hold.ask(3_000);
    }
    expect(await ended).toEqual(["server_unavailable", 9_000]);
  });

  it("a call that stood in the queue when the server asked to be left alone is held too", async () => {
    const { clock, deps, plan } = setUp({ mayRepeat: () => false });
    const full = { ...plan, limiters: () => ({ all: [one] }) };
    const one = createLimiter("github", () => 1, 5);
    const running = run(deps, full, async () => {
      await clock.sleep(1_000);
      throw new PortcullisError("rate_limited", "429", { data: { retryAfterMs: 60_000 } });
    });
    let wasSent = false;
    const queued = run(deps, full, async () => {
      wasSent = true;
    });
    expect(await settle(clock, Promise.all([running.catch(() => undefined), queued]), 1_000)).toMatchObject({
      error: { code: "server_unavailable" },
    });
    expect([wasSent, one.running]).toEqual([false, 0]);
  });

  it("ten calls that one death takes along are one failure", async () => {
    const { clock, deps, plan } = setUp({ mayRepeat: () => false, limiters: () => ({ all: [] }) });
    const death = new PortcullisError("process_exited", "exit code 1");
    const calls = Array.from({ length: 10 }, () =>
      run(deps, plan, async () => {
        await clock.sleep(10);
        throw new PortcullisError("process_exited", death.message, { cause: death });
      }),
    );
    await settle(clock, Promise.allSettled(calls));
    expect(plan.breaker.state).toEqual({ kind: "closed", failures: 1 });
    plan.breaker.fail(death);
    expect(plan.breaker.state).toEqual({ kind: "closed", failures: 1 });
  });

  it("an open breaker refuses before a connection is even waited for", async () => {
    let asked = 0;
    const { clock, deps, plan } = setUp({
      ready: async () => {
        asked += 1;
      },
    });
    for (let call = 0; call < 10; call += 1) plan.breaker.enter().end("failed");
    const result = await settle(
      clock,
      run(deps, plan, async () => "never"),
    );
    expect(result).toMatchObject({ error: { code: "breaker_open" } });
    expect(asked).toBe(0);
  });

  it("a caller's abort ends the wait between retries and is not the server's fault", async () => {
    const controller = new AbortController();
    const { clock, deps, plan } = setUp({ signal: controller.signal });
    const running = settle(
      clock,
      run(deps, plan, async () => {
        throw lost();
      }),
      0,
    );
    await clock.advance(1);
    controller.abort(new Error("gave up"));
    expect(await running).toMatchObject({ error: { message: "gave up" } });
    expect(clock.pending()).toBe(0);
  });
});

describe("an attempt that stands still", () => {
  it("gives its places back, but for the one that is kept, and takes them again before it goes on", async () => {
    const { deps, limiter, plan } = setUp();
    const kept = createLimiter("one at a time", () => 1, 5);
    const seen: number[][] = [];
    const look = (): void => void seen.push([limiter.running, kept.running]);
    const answer = Promise.withResolvers<void>();
    const running = run(
      deps,
      { ...plan, limiters: () => ({ all: [kept, limiter], kept }) },
      async (_try, _left, standstill) => {
        look();
        await standstill(async () => {
          look();
          await answer.promise;
        });
        look();
      },
    );
    await Promise.resolve();
    answer.resolve();
    await running;
    look();
    expect(seen).toEqual([
      [1, 1],
      [0, 1],
      [1, 1],
      [0, 0],
    ]);
  });

  it("waits for its place behind whoever got it meanwhile, and holds none where it is over by then", async () => {
    const limiter = createLimiter("github", () => 1, 5);
    const { deps, plan } = setUp({ limiters: () => ({ all: [limiter] }) });
    const controller = new AbortController();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const running = run(deps, { ...plan, signal: controller.signal }, (_try, _left, standstill) =>
      standstill(async () => {
        asked.resolve();
        await answered.promise;
      }),
    );
    await asked.promise;
    const leave = await limiter.enter(plan.signal);
    answered.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(limiter).toMatchObject({ running: 1, waiting: 1 });
    controller.abort(new PortcullisError("cancelled", "gone"));
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
    leave();
    expect(limiter).toMatchObject({ running: 0, waiting: 0 });
  });
});
