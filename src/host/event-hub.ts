/**
 * The events of a host. Some come with every call; they are made only while somebody listens to calls, which most listeners do
 * not.
 */
import { createEmitter } from "../base/emitter.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { TraceContext } from "../vocabulary.ts";

export interface EventHub {
  emit(event: HostEvent): void;
  /** @returns the end of it. */
  on(listener: (event: HostEvent) => void, options?: ListenOptions): () => void;
  /** Whether anybody listens to what comes with every call, from `call.opened` to `call.closed`. */
  hearsCalls(): boolean;
  /** The trace that requests of a call belong to, as the listener says that was added last. */
  traceOf(callId: string): TraceContext | undefined;
}

export interface ListenOptions {
  /** `false`: the events of single calls may be left out. Default true. */
  readonly calls?: boolean;
  /** Says which trace the requests of a call belong to; without it they tell the server what the caller told. */
  readonly trace?: (callId: string) => TraceContext | undefined;
}

export function createEventHub(): EventHub {
  const events = createEmitter<HostEvent>();
  let hearers = 0;
  let tracers: readonly NonNullable<ListenOptions["trace"]>[] = [];
  return {
    emit: events.emit,
    on(listener, { calls = true, trace } = {}) {
      const off = events.on(listener);
      if (calls) hearers += 1;
      if (trace !== undefined) tracers = [...tracers, trace];
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        if (calls) hearers -= 1;
        tracers = tracers.filter((one) => one !== trace);
        off();
      };
    },
    hearsCalls: () => hearers > 0,
    traceOf(callId) {
      try {
        return tracers.at(-1)?.(callId);
      } catch {
        // Like one that throws when it is told something: it disturbs no call.
        return undefined;
      }
    },
  };
}
