/**
 * Who listens to which topic, and how far each topic is known. A store tells it of commits one by one (`told`) and of the
 * counters as a whole (`compare`), in any order: a change is told twice rather than never. Listeners are called once per turn
 * of the event loop.
 */
export interface TopicListeners {
  /** @returns the function that takes the listener off. */
  on(topic: string, listener: () => void): () => void;
  readonly isEmpty: boolean;
  /** A commit: how often each of these topics was changed so far. */
  told(changes: ReadonlyMap<string, number>): void;
  /** All counters as they were read: whatever is not known yet has changed. */
  compare(counters: ReadonlyMap<string, number>): void;
  /** Nothing is known any more: everything counts as changed at the next `compare`. */
  forget(): void;
  /** The counters as they are, without telling anybody: where nobody listened before. */
  startFrom(counters: ReadonlyMap<string, number>): void;
  close(): void;
}

/** What tells listeners that a topic changed. */
export interface TopicWatch {
  /** @returns the function that takes the listener off. */
  on(topic: string, listener: () => void): () => void;
  /** A commit of this process: how often each of these topics was changed so far. */
  readonly committed: (changes: ReadonlyMap<string, number>) => void;
  close(): Promise<void> | void;
}

/** @param onFault told about listeners that throw. */
export function createTopicListeners(onFault: (error: unknown) => void): TopicListeners {
  const listeners = new Map<string, Set<() => void>>();
  const dirty = new Set<string>();
  let known: Map<string, number> = new Map();
  let isClosed = false;

  const fire = (): void => {
    const topics = [...dirty];
    dirty.clear();
    for (const topic of topics) {
      // A copy: a listener may take itself off and put itself on again.
      const called = [...(listeners.get(topic) ?? [])];
      for (const listener of called) {
        try {
          listener();
        } catch (error) {
          onFault(error);
        }
      }
    }
  };

  const mark = (topic: string): void => {
    if (isClosed || !listeners.has(topic)) return;
    if (dirty.size === 0) setImmediate(fire);
    dirty.add(topic);
  };

  return {
    on(topic, listener) {
      // An entry of its own, so that the same function may listen twice.
      const entry = (): void => listener();
      const entries = listeners.get(topic) ?? new Set();
      entries.add(entry);
      listeners.set(topic, entries);
      return () => {
        entries.delete(entry);
        if (entries.size === 0 && listeners.get(topic) === entries) listeners.delete(topic);
      };
    },
    get isEmpty() {
      return listeners.size === 0;
    },
    told(changes) {
      for (const [topic, count] of changes) {
        const last = known.get(topic);
        if (last !== undefined && last >= count) continue;
        // Where somebody else changed it in between, the next look at the counters has to tell as well.
        if (last === count - 1) known.set(topic, count);
        mark(topic);
      }
    },
    compare(counters) {
      for (const [topic, changes] of counters) if (known.get(topic) !== changes) mark(topic);
      known = new Map(counters);
    },
    forget() {
      known = new Map();
    },
    startFrom(counters) {
      known = new Map(counters);
    },
    close() {
      isClosed = true;
      listeners.clear();
      dirty.clear();
    },
  };
}
