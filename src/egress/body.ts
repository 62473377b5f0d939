/**
 * The body of one response as a pull stream: chunks wait in a queue, and beyond a bound the socket is paused, so a slow
 * reader holds at most the bound plus one read. Ends once: at its end, by a failure, or by the reader's `return()`.
 */
import type { Clock, Timer } from "../base/clock.ts";

/** Bytes that may wait before the socket is paused. */
const PAUSE_ABOVE_BYTES = 64 * 1024;

export interface BodyOwner {
  pause(): void;
  resume(): void;
  /** The reader gave up before the end. */
  cancelled(): void;
  /** No byte came for `idleTimeoutMs` while the reader waited. */
  idled(): void;
}

export interface Body extends AsyncIterableIterator<Uint8Array> {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
  takeWhole(): readonly Uint8Array[] | undefined;
}

type State =
  | { readonly kind: "open" }
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly error: Error };

interface Reader {
  readonly resolve: (result: IteratorResult<Uint8Array>) => void;
  readonly reject: (error: Error) => void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** @param idleTimeoutMs 0: no limit. */
export function createBody(owner: BodyOwner, clock: Clock, idleTimeoutMs: number): Body {
  const chunks: Uint8Array[] = [];
  let waitingBytes = 0;
  let isPaused = false;
  let state: State = { kind: "open" };
  let reader: Reader | undefined;
  let idleTimer: Timer | undefined;

  const takeReader = (): Reader | undefined => {
    const taken = reader;
    reader = undefined;
    idleTimer?.cancel();
    idleTimer = undefined;
    return taken;
  };

  return {
    push(chunk) {
      if (state.kind !== "open") return;
      const taken = takeReader();
      if (taken !== undefined) {
        taken.resolve({ done: false, value: chunk });
        return;
      }
      chunks.push(chunk);
      waitingBytes += chunk.byteLength;
      if (waitingBytes > PAUSE_ABOVE_BYTES && !isPaused) {
        isPaused = true;
        owner.pause();
      }
    },
    end() {
      if (state.kind !== "open") return;
      state = { kind: "ended" };
      takeReader()?.resolve(DONE);
    },
    fail(error) {
      if (state.kind !== "open") return;
      state = { kind: "failed", error };
      takeReader()?.reject(error);
    },
    next() {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        waitingBytes -= chunk.byteLength;
        if (isPaused && waitingBytes <= PAUSE_ABOVE_BYTES && state.kind === "open") {
          isPaused = false;
          owner.resume();
        }
        return Promise.resolve({ done: false, value: chunk });
      }
      if (state.kind === "ended") return Promise.resolve(DONE);
      if (state.kind === "failed") {
        const { error } = state;
        state = { kind: "ended" };
        return Promise.reject(error);
      }
      return new Promise((resolve, reject) => {
        reader = { resolve, reject };
        if (idleTimeoutMs > 0) idleTimer = clock.timer(idleTimeoutMs, () => owner.idled());
      });
    },
    takeWhole: () => (state.kind === "ended" ? chunks.splice(0) : undefined),
    return() {
      chunks.length = 0;
      if (state.kind === "open") {
        state = { kind: "ended" };
        takeReader()?.resolve(DONE);
        owner.cancelled();
      }
      return Promise.resolve(DONE);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
