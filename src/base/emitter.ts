/**
 * Typed publication of facts: a listener that throws, or whose promise rejects, is reported to `onError` and disturbs neither the
 * publisher nor the others.
 */

export interface Emitter<Event> {
  emit(event: Event): void;
  /** @returns the function that takes the listener off again. */
  on(listener: (event: Event) => void): () => void;
  listenerCount(): number;
}

export function createEmitter<Event>(onError: (error: unknown) => void = () => undefined): Emitter<Event> {
  const listeners = new Set<(event: Event) => void>();
  return {
    emit(event) {
      if (listeners.size === 0) return;
      // A copy: a listener may take itself or others off.
      for (const listener of Array.from(listeners)) {
        try {
          // A listener may be async all the same: nobody else waits for what it returns.
          const answer: unknown = listener(event);
          if (answer instanceof Promise) answer.catch(onError);
        } catch (error) {
          onError(error);
        }
      }
    },
    on(listener) {
      const entry = (event: Event): void => listener(event);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    listenerCount: () => listeners.size,
  };
}
