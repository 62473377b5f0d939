/**
 * What is done in the last moment of a process, when there is only time for what is synchronous: the last that was registered
 * first, as everything is taken down. One listener for all, taken off when nothing is left to do. A process that is killed outright
 * never gets here.
 */
const works = new Set<() => void>();

function runAll(): void {
  for (const work of [...works].reverse()) {
    try {
      work();
    } catch {
      // Nobody is left to be told, and the others come next.
    }
  }
}

/** @returns the function that takes `work` off again. */
export function onProcessExit(work: () => void): () => void {
  // The same function may be given twice: each time counts by itself.
  const own = (): void => work();
  if (works.size === 0) process.on("exit", runAll);
  works.add(own);
  return () => {
    if (works.delete(own) && works.size === 0) process.off("exit", runAll);
  };
}
