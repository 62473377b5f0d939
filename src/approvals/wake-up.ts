/** Wakes everybody who waits for something in the store; watches only while somebody does. */

interface Waiting {
  /** Resolves at the next wake-up after this call. @throws what `close` was given. */
  next(): Promise<void>;
  wake(): void;
  leave(): void;
}

export interface WakeUp {
  join(): Waiting;
  wakeAll(): void;
  close(reason: Error): void;
}

/** @param watch starts the watching and returns the function that ends it. */
export function createWakeUp(watch: (listener: () => void) => () => void): WakeUp {
  const waiting = new Set<{ wake: () => void; fail: (reason: Error) => void }>();
  let stop: (() => void) | undefined;
  let closedBy: Error | undefined;
  const wakeAll = (): void => {
    for (const one of waiting) one.wake();
  };
  const unwatch = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    join() {
      let current = Promise.withResolvers<void>();
      current.promise.catch(() => undefined);
      const entry = {
        wake: () => current.resolve(),
        fail: (reason: Error) => current.reject(reason),
      };
      waiting.add(entry);
      stop ??= watch(wakeAll);
      return {
        next() {
          current = Promise.withResolvers<void>();
          current.promise.catch(() => undefined);
          if (closedBy !== undefined) current.reject(closedBy);
          return current.promise;
        },
        wake: entry.wake,
        leave() {
          waiting.delete(entry);
          if (waiting.size === 0) unwatch();
        },
      };
    },
    wakeAll,
    close(reason) {
      closedBy = reason;
      for (const one of waiting) one.fail(reason);
      unwatch();
    },
  };
}
