/**
 * Long work in slices, so that it never holds the event loop for long. The work is a generator that yields wherever it may be
 * interrupted, every few milliseconds of it at the latest; what it answers is the same however it is run.
 */

/** Work that can be interrupted where it yields. */
export type Sliced<Result> = Generator<void, Result, void>;

/** How long work goes on, and how it lets others take their turn. */
export interface Pace {
  /** Milliseconds since some fixed point. */
  monotonic(): number;
  /** Resolves when everything else that was ready has had its turn. */
  turn(): Promise<void>;
}

const systemPace: Pace = {
  monotonic: () => performance.now(),
  turn: () => new Promise((resolve) => void setImmediate(resolve)),
};

/** After this much of it, work lets others take their turn. */
const SLICE_MS = 5;

/** Runs `work` to its end without a pause. */
export function atOnce<Result>(work: Sliced<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Runs `work` in slices: there at once where it yields nowhere. What it throws is thrown, or rejects. */
export function inSlices<Result>(work: Sliced<Result>, pace: Pace = systemPace): Result | Promise<Result> {
  const step = work.next();
  return step.done === true ? step.value : goOn(work, pace);
}

async function goOn<Result>(work: Sliced<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    await pace.turn();
    const until = pace.monotonic() + SLICE_MS;
    let step = work.next();
    while (step.done !== true && pace.monotonic() < until) step = work.next();
    if (step.done === true) return step.value;
  }
}
