import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { PortcullisError, type ErrorCode } from "../../../src/errors.ts";
import { createBreaker } from "../../../src/resilience/breaker.ts";
import { createLimiter } from "../../../src/resilience/limiter.ts";
import { createRetryBudget } from "../../../src/resilience/retry.ts";
import { run, type RunPlan } from "../../../src/resilience/run.ts";

function setUp(overrides: Partial<RunPlan> = {}) {
  const clock = createManualClock();
  const deps = { clock, random: createSeededRandom(1) };
  const limiter = createLimiter("github", 2, 2);
  const plan: RunPlan = {
    signal: new AbortController().signal,
    totalMs: 60_000,
    mayRepeat: true,
    budget: createRetryBudget(),
    limiters: [limiter],
    breaker: createBreaker({ clock, name: "github" }),
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
    const { clock, deps, plan } = setUp({ mayRepeat: false });
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
    const { clock, deps, plan } = setUp({ limiters: [] });
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
    const { clock, deps, plan } = setUp({ mayRepeat: false });
    await settle(
      clock,
      run(deps, plan, async () => {
        throw new PortcullisError(code, "x", { data });
      }),
    );
    expect(plan.breaker.state).toEqual({ kind: "closed", failures: counts ? 1 : 0 });
  });

  it("the deadline spans attempts and waits, and names itself", async () => {
    const { clock, deps, plan } = setUp({ totalMs: 1_000 });
    const result = await settle(
      clock,
      run(deps, plan, (_attempt, signal) => clock.sleep(10_000, signal)),
    );
    expect(result).toMatchObject({ error: { code: "timed_out", data: { totalMs: 1_000 } } });
    expect(clock.pending()).toBe(0);
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
