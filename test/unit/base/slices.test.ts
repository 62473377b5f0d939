import { describe, expect, it } from "vitest";
import { atOnce, inSlices, type Pace, type Sliced } from "../../../src/base/slices.ts";

/** Adds up 1 to `count`, a slice each, `costMs` long. */
function* sum(count: number, spend: () => void = () => undefined): Sliced<number> {
  let total = 0;
  for (let at = 1; at <= count; at += 1) {
    spend();
    total += at;
    yield;
  }
  return total;
}

function createPace(): {
  readonly pace: Pace;
  readonly spend: (ms: number) => void;
  readonly turns: () => number;
} {
  let now = 0;
  let turns = 0;
  return {
    pace: {
      monotonic: () => now,
      turn: async () => void (turns += 1),
    },
    spend: (ms) => void (now += ms),
    turns: () => turns,
  };
}

describe("slices", () => {
  it("gives the same answer at once and in slices", async () => {
    expect(atOnce(sum(10))).toBe(55);
    expect(await inSlices(sum(10))).toBe(55);
  });

  it("is there at once where the work never pauses", () => {
    expect(inSlices(sum(0))).toBe(0);
  });

  it("lets others take their turn every few milliseconds, not at every pause", async () => {
    const { pace, spend, turns } = createPace();
    expect(
      await inSlices(
        sum(100, () => spend(1)),
        pace,
      ),
    ).toBe(5_050);
    // Before it goes on at all, and then after every five.
    expect(turns()).toBe(20);
  });

  it("passes on what the work throws, whenever it does", async () => {
    function* failing(slices: number): Sliced<never> {
      for (let at = 0; at < slices; at += 1) yield;
      throw new RangeError("no");
    }
    expect(() => atOnce(failing(2))).toThrow("no");
    expect(() => inSlices(failing(0))).toThrow("no");
    await expect(inSlices(failing(3))).rejects.toThrow("no");
  });
});
