import { describe, expect, it } from "vitest";
import { createSeededRandom, systemRandom, timedId } from "../../../src/base/random.ts";

describe("an id that begins with its time", () => {
  it("is 20 safe characters, and the same at the front for the same time", () => {
    const now = Date.UTC(2026, 0, 1);
    const ids = Array.from({ length: 1_000 }, () => timedId(systemRandom, now));
    expect(new Set(ids).size).toBe(1_000);
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(1);
    for (const id of ids) expect(id).toMatch(/^[\w-]{20}$/);
    expect(timedId(systemRandom, now + 1).slice(0, 8)).not.toBe(ids[0]?.slice(0, 8));
  });

  it("can be repeated with a seed", () => {
    expect(timedId(createSeededRandom(7), 1.5)).toBe(timedId(createSeededRandom(7), 1));
  });
});
