import { expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createOddityMeter } from "../../../src/transport/oddity-meter.ts";
import type { Oddity } from "../../../src/transport/transport.ts";

it("passes a burst on, then a few a second, and loses no count", async () => {
  const clock = createManualClock();
  const reported: Oddity[] = [];
  const meter = createOddityMeter(clock, (oddity) => void reported.push(oddity));
  for (let at = 0; at < 1_000; at += 1) meter.note({ kind: "noise", sample: String(at) });
  expect(reported).toHaveLength(20);
  expect(reported[0]).toEqual({ kind: "noise", sample: "0" });

  await clock.advance(1_000);
  meter.note({ kind: "noise", sample: "later" });
  expect(reported.at(-1)).toEqual({ kind: "noise", sample: "later", count: 981 });
  meter.note({ kind: "other", sample: "x" });
  meter.note({ kind: "other", sample: "y" });
  expect(reported).toHaveLength(22);
  expect(meter.counts()).toEqual({ noise: 1_001, other: 2 });
});
