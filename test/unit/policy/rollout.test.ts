import { describe, expect, it } from "vitest";
import { isInRollout, rolloutShare } from "../../../src/policy/rollout.ts";

const people = Array.from({ length: 5_000 }, (_one, index) => `user-${index}`);

describe("a rollout", () => {
  it("takes about the share that it names, always the same ones, and loses nobody as it grows", () => {
    const at = (percent: number): string[] =>
      people.filter((who) => isInRollout({ name: "s", rollout: { percent, principals: [] } }, who));
    const five = at(5);
    expect(five.length).toBeGreaterThan(175);
    expect(five.length).toBeLessThan(325);
    const fifty = new Set(at(50));
    expect(five.every((who) => fifty.has(who))).toBe(true);
    expect(at(0)).toEqual([]);
    expect(at(100)).toHaveLength(people.length);
  });

  it("always takes those who are named, and everybody where there is none", () => {
    expect(isInRollout({ name: "s", rollout: { percent: 0, principals: ["ann"] } }, "ann")).toBe(true);
    expect(isInRollout({ name: "s", rollout: { percent: 0, principals: ["ann"] } }, "bob")).toBe(false);
    expect(isInRollout({ name: "s", rollout: null }, "bob")).toBe(true);
  });

  it("has another order for another server, and never changes its mind", () => {
    expect(rolloutShare("a", "ann")).not.toBe(rolloutShare("b", "ann"));
    expect(rolloutShare("github", "local")).toBeCloseTo(3.4542, 3);
  });
});
