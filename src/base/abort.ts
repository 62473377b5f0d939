/** Signals: every wait takes one, and ends with its reason as soon as it is aborted. */

/** The reason of an aborted signal; an `AbortError` where none was given. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), "AbortError");
}

/** @throws the reason of `signal` where it is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal);
}

/**
 * Waits for `promise`, or for `signal`, whichever is first. The promise itself goes on: whoever started it still owns its
 * end, and its late failure is swallowed here.
 *
 * @throws the reason of `signal`, or what `promise` rejects with.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  promise.catch(() => undefined);
  throwIfAborted(signal);
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A controller that follows its parents and can be cut loose from them. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Takes the listeners off the parents. Must be called when the work is over. */
  unlink(): void;
}

/** A controller that aborts when one of `parents` does. Unlike `AbortSignal.any` it leaves no listener behind once unlinked. */
export function linkAbort(...parents: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController();
  const links: { parent: AbortSignal; onAbort: () => void }[] = [];
  const unlink = (): void => {
    for (const { parent, onAbort } of links.splice(0)) parent.removeEventListener("abort", onAbort);
  };
  for (const parent of parents) {
    if (parent === undefined) continue;
    if (parent.aborted) {
      controller.abort(abortReason(parent));
      break;
    }
    const onAbort = (): void => {
      controller.abort(abortReason(parent));
      unlink();
    };
    parent.addEventListener("abort", onAbort, { once: true });
    links.push({ parent, onAbort });
  }
  if (controller.signal.aborted) unlink();
  return {
    signal: controller.signal,
    abort(reason) {
      controller.abort(reason);
      unlink();
    },
    unlink,
  };
}
