/**
 * How long the event loop is held, as CPU time of the thread that runs it: what else the machine does, and other threads (garbage,
 * compilers), do not count. Needs Node.js 23.9; where it is older, tests are skipped by `canMeasureStalls` and counted aloud.
 */

/** `process.threadCpuUsage`, which the floor of Node.js does not have. */
const usage = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage;

export const canMeasureStalls = usage !== undefined;

/** No stretch of work may hold the event loop for longer. */
export const MAX_STALL_MS = 50;

/** CPU time of this thread so far. @throws Error where Node.js cannot tell. */
function threadCpuMs(): number {
  if (usage === undefined) throw new Error("process.threadCpuUsage is there from Node.js 23.9 on");
  const { user, system } = usage.call(process);
  return (user + system) / 1_000;
}

/**
 * A pause of the garbage collector, a function that was not compiled yet, or a neighbour that empties the caches is no property of
 * the work: the best of some runs counts.
 */
const RUNS = 12;
/** Clearly below the limit: no further run can say anything else. */
const CLEAR_MS = 40;

/**
 * The longest of the steps that `run` takes, of the best run.
 * @param run makes what it needs, and answers the steps to be measured one by one.
 */
export function longestStepMs(run: () => Iterable<() => unknown>): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < RUNS && best > CLEAR_MS; attempt += 1) {
    let longest = 0;
    for (const step of run()) {
      const before = threadCpuMs();
      step();
      longest = Math.max(longest, threadCpuMs() - before);
    }
    best = Math.min(best, longest);
  }
  return best;
}

/** The longest slice of `work`, of the best run, and what it answers. */
export function longestSliceMs<Result>(work: () => Generator<unknown, Result, void>): {
  readonly result: Result;
  readonly longestMs: number;
} {
  let result: Result | undefined;
  const longestMs = longestStepMs(function* () {
    const slices = work();
    let isDone = false;
    while (!isDone)
      yield () => {
        const slice = slices.next();
        if (slice.done !== true) return;
        isDone = true;
        result = slice.value;
      };
  });
  return { result: result as Result, longestMs };
}

/**
 * The longest that the event loop was held while `work` ran, of the best run: sampled on a timer, which fires once in a turn of the
 * loop, so that what lies between two samples is at least one whole turn.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < RUNS && best > CLEAR_MS; attempt += 1) {
    let longest = 0;
    let before = threadCpuMs();
    const sample = (): void => {
      const now = threadCpuMs();
      longest = Math.max(longest, now - before);
      before = now;
    };
    const timer = setInterval(sample, 1);
    try {
      await work();
    } finally {
      clearInterval(timer);
      sample();
    }
    best = Math.min(best, longest);
  }
  return best;
}
