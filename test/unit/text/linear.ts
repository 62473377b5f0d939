/** Shows that work grows in a straight line, on a machine that is busy with other things too. */
import { expect } from "vitest";

const TIMES = 8;
const ATTEMPTS = 30;

function time(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

/**
 * Eight small texts take about as long as one that is eight times as large; were the work quadratic, they would take an eighth.
 * Load on the machine can spoil an attempt, but cannot make quadratic work look straight, so one good attempt decides.
 */
export function expectLinear(part: string, smallSize: number, work: (text: string) => void): void {
  const make = (size: number): string => part.repeat(Math.ceil(size / part.length));
  const [small, large] = [make(smallSize), make(smallSize * TIMES)];
  let best = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && best > 3; attempt += 1) {
    const apart = time(() => {
      for (let run = 0; run < TIMES; run += 1) work(small);
    });
    best = Math.min(best, time(() => work(large)) / apart);
  }
  expect(best).toBeLessThanOrEqual(3);
}
