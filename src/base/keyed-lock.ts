/** One after another per key, inside this process. */
import { throwIfAborted, untilAborted } from "./abort.ts";

export interface KeyedLock {
  /** Runs `work` when every earlier work of `key` is over. @throws the signal's reason where it aborts while waiting. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, work, signal) {
      const before = tails.get(key) ?? Promise.resolve();
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const tail = before.then(() => held);
      tails.set(key, tail);
      try {
        await untilAborted(before, signal);
        throwIfAborted(signal);
        return await work();
      } finally {
        release();
        void tail.then(() => {
          if (tails.get(key) === tail) tails.delete(key);
        });
      }
    },
  };
}
