import { describe, expect, it } from "vitest";
import { isTerminal, nextPollMs, readLegacyTask, readTask } from "../../../src/wire/tasks.ts";

describe("tasks", () => {
  it("of the extension are flat", () => {
    expect(
      readTask({ taskId: "t", status: "working", ttlMs: null, pollIntervalMs: 500, statusMessage: "half" }),
    ).toEqual({
      taskId: "t",
      status: "working",
      ttlMs: null,
      pollIntervalMs: 500,
      statusMessage: "half",
    });
    expect(readTask({ taskId: "t", status: "completed", result: { content: [] } })).toMatchObject({
      result: { content: [] },
    });
    expect(readTask({ taskId: "t", status: "failed", error: { code: 1, message: "no" } })).toMatchObject({
      error: { code: 1 },
    });
    expect(
      readTask({ taskId: "t", status: "input_required", inputRequests: { k: { method: "roots/list" } } }),
    ).toMatchObject({
      inputRequests: { k: { method: "roots/list" } },
    });
  });

  it("that are malformed are none", () => {
    for (const bad of [
      {},
      { taskId: "t" },
      { taskId: "", status: "working" },
      { taskId: 3, status: "working" },
      { taskId: "t", status: "lost" },
      { taskId: "t", status: "completed" },
    ]) {
      expect(readTask(bad)).toBeUndefined();
    }
  });

  it("of 2025-11-25 have other names [TASK-24]", () => {
    expect(readLegacyTask({ taskId: "t", status: "working", ttl: 1_000, pollInterval: 50 })).toEqual({
      taskId: "t",
      status: "working",
      ttlMs: 1_000,
      pollIntervalMs: 50,
    });
    expect(readLegacyTask(null)).toBeUndefined();
  });

  it("end in three ways", () => {
    expect(
      (["working", "input_required", "completed", "failed", "cancelled"] as const).filter(isTerminal),
    ).toEqual(["completed", "failed", "cancelled"]);
  });

  it("are looked at as the server asks, within bounds and with jitter [TASK-07]", () => {
    const task = (pollIntervalMs?: number) => ({
      taskId: "t",
      status: "working" as const,
      ttlMs: null,
      ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
    });
    expect(nextPollMs(task(5_000), 0, 0)).toBe(5_000);
    expect(nextPollMs(task(5_000), 0, 1)).toBe(5_500);
    expect(nextPollMs(task(0), 0, 0)).toBe(100);
    expect(nextPollMs(task(1e9), 0, 0)).toBe(60_000);
    expect([0, 5, 10, 100].map((looks) => nextPollMs(task(), looks, 0))).toEqual([
      1_000, 2_000, 4_000, 16_000,
    ]);
  });
});
