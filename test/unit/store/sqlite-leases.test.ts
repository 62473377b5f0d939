import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

const holder = fileURLToPath(new URL("../../fault/store-holder.mjs", import.meta.url));
const waiter = fileURLToPath(new URL("../../fault/store-waiter.mjs", import.meta.url));
const never = new AbortController().signal;

describe("leases", () => {
  it("are renewed for as long as they are held", async () => {
    const dir = tempDir();
    const [one, other] = [await openTestStore({ dir }), await openTestStore({ dir })];
    const held = await one.leases.acquire("turn", never);
    let isPassedOn = false;
    const waiting = other.leases.acquire("turn", never).then((lease) => {
      isPassedOn = true;
      return lease;
    });
    for (let second = 0; second < 60; second += 1) {
      await one.clock.advance(1_000);
      await other.clock.advance(1_000);
    }
    expect(held.signal.aborted).toBe(false);
    expect(isPassedOn).toBe(false);
    await held.release();
    await other.clock.advance(100);
    await (await waiting).release();
  });

  it("that are not renewed go to the next, and the holder stops before that", async () => {
    const dir = tempDir();
    const [one, other] = [await openTestStore({ dir }), await openTestStore({ dir })];
    const held = await one.leases.acquire("turn", never);
    const waiting = other.leases.acquire("turn", never);
    // The clock of the holder stands still: to others it looks like a process that was suspended.
    for (let second = 0; second < 16; second += 1) await other.clock.advance(1_000);
    const passed = await waiting;
    expect(passed.signal.aborted).toBe(false);
    await one.clock.advance(5_000);
    expect(held.signal.aborted).toBe(true);
    await held.release();
    expect(passed.signal.aborted).toBe(false);
    await passed.release();
  });

  it("of a holder that cannot write are lost to it before anybody else may take them", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const held = await store.leases.acquire("turn", never);
    const other = await openTestStore({ dir });
    const file = new DatabaseSync(join(dir, "state.db"));
    file.exec("BEGIN IMMEDIATE");
    await store.clock.advance(12_900);
    expect(held.signal.aborted).toBe(false);
    await store.clock.advance(200);
    expect(held.signal.aborted).toBe(true);
    file.exec("ROLLBACK");
    file.close();
    await store.clock.advance(200);
    await held.release();
    await (await other.leases.acquire("turn", never)).release();
  });

  it("are waited for by one that was suspended itself: it stands at the end again", async () => {
    const dir = tempDir();
    const [one, other, third] = [
      await openTestStore({ dir }),
      await openTestStore({ dir }),
      await openTestStore({ dir }),
    ];
    const held = await one.leases.acquire("turn", never);
    const order: string[] = [];
    const suspended = other.leases.acquire("turn", never).then((lease) => {
      order.push("suspended");
      return lease;
    });
    const running = third.leases.acquire("turn", never).then((lease) => {
      order.push("running");
      return lease;
    });
    for (let second = 0; second < 20; second += 1) {
      await one.clock.advance(1_000);
      await third.clock.advance(1_000);
    }
    await held.release();
    await third.clock.advance(1_100);
    const lease = await running;
    await other.clock.advance(21_000);
    await lease.release();
    await other.clock.advance(1_100);
    await (await suspended).release();
    expect(order).toEqual(["running", "suspended"]);
  });

  it("go to one that slept through the end of its own place", async () => {
    const dir = tempDir();
    const one = await openTestStore({ dir });
    const clock = createManualClock();
    let skewMs = 0;
    const sleeper = await openTestStore({ dir, clock: { ...clock, now: () => clock.now() + skewMs } });
    const held = await one.leases.acquire("turn", never);
    const waiting = sleeper.leases.acquire("turn", never);
    await clock.advance(100);
    await held.release();
    // The wall clock of a machine that was suspended: past the end, before any timer has fired.
    skewMs = 20_000;
    await clock.advance(2_000);
    const lease = await waiting;
    expect(lease.signal.aborted).toBe(false);
    await lease.release();
  });

  it("of a process that was killed are free at once", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const child = fork(holder, [dir, "proc", "turn"], { stdio: "ignore" });
    const exit = once(child, "exit");
    await once(child, "message");
    const waiting = store.leases.acquire("turn", never);
    await store.clock.advance(1_100);
    child.kill("SIGKILL");
    await exit;
    await store.clock.advance(1_100);
    await (await waiting).release();
  });

  it("are waited for by a process that has nothing else to do", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, clock: systemClock });
    const held = await store.leases.acquire("turn", never);
    // Its standard input, output and channel do not keep it alive.
    const child = spawn(process.execPath, [waiter, dir, "turn"], { stdio: ["ignore", "pipe", "inherit"] });
    const exit = once(child, "exit");
    const [first] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    expect(first).toBe("waiting\n");
    const rest = once(child.stdout, "data");
    await held.release();
    expect(await rest).toEqual(["acquired\n"]);
    expect(await exit).toEqual([0, null]);
  });

  it("leave nothing behind in the queue or on the clock", async () => {
    const store = await openTestStore();
    const before = store.clock.pending();
    const held = await store.leases.acquire("turn", never);
    const controller = new AbortController();
    const waiting = store.leases.acquire("turn", controller.signal);
    await store.clock.advance(10);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await held.release();
    expect(store.clock.pending()).toBe(before);
  });
});
