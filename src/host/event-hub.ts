/**
 * The events of a host. Three of them come with every call; they are made only while somebody listens to calls, which most
 * listeners do not.
 */
import { createEmitter } from "../base/emitter.ts";
import type { HostEvent } from "../telemetry/events.ts";

export interface EventHub {
  emit(event: HostEvent): void;
  /** @returns the end of it. */
  on(listener: (event: HostEvent) => void, options?: ListenOptions): () => void;
  /** Whether anybody listens to `call.opened`, `call.dispatched` and `call.closed`. */
  hearsCalls(): boolean;
}

export interface ListenOptions {
  /** `false`: the events of single calls may be left out. Default true. */
  readonly calls?: boolean;
}

export function createEventHub(): EventHub {
  const events = createEmitter<HostEvent>();
  let hearers = 0;
  return {
    emit: events.emit,
    on(listener, { calls = true } = {}) {
      const off = events.on(listener);
      if (!calls) return off;
      hearers += 1;
      let isOver = false;
      return () => {
        if (!isOver) hearers -= 1;
        isOver = true;
        off();
      };
    },
    hearsCalls: () => hearers > 0,
  };
}
