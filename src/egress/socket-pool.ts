/**
 * The sockets to one origin, each driven by an undici client of its own that carries one exchange at a time. Ours
 * instead of undici's pool, because we need to know of every socket whether it was used before and how long it idled,
 * and because nothing may be written twice. Invariant: a slot is idle, busy or gone, and only this file moves it.
 */
import type { Socket } from "node:net";
import { Client } from "undici";
import type { Clock } from "../base/clock.ts";

/** One socket, or the attempt to get one. */
export interface Slot {
  readonly client: Client;
  /** Exchanges that it carried before the present one. */
  carried: number;
  /** When it became idle, on the monotonic clock. */
  idleSinceMs: number;
  /** Absent until the first connect. */
  socket: Socket | undefined;
  /** Resolves when the socket is closed. */
  gone: Promise<void>;
  readonly dialing: AbortController;
}

interface Waiter {
  start(slot: Slot): void;
  /** The pool was closed first. */
  closed(): void;
}

export interface SocketPool {
  /** A slot for one exchange at once, or `undefined` where all `maxSockets` are busy. */
  take(needsFreshSocket: boolean): Slot | undefined;
  /** Queues for a slot, first come first served. @returns the function that takes it out of the queue again. */
  wait(waiter: Waiter): () => void;
  /** The exchange ended well: the slot may carry the next one. */
  give(slot: Slot): void;
  /** The exchange ended badly: the socket goes. */
  drop(slot: Slot): void;
  /** Ends every socket. Resolves when they are gone. */
  close(): Promise<void>;
}

export interface SocketPoolOptions {
  readonly origin: URL;
  readonly clock: Clock;
  readonly dial: (signal: AbortSignal) => Promise<Socket>;
  readonly maxSockets: number;
  readonly maxHeaderBytes: number;
}

/** A socket that idled longer may be half closed by the server: nothing with an effect rides on it. */
const FRESH_MS = 1000;

export function createSocketPool(options: SocketPoolOptions): SocketPool {
  const { clock } = options;
  /** Least recently used first. */
  const idle: Slot[] = [];
  const all = new Set<Slot>();
  const waiters = new Set<Waiter>();
  const ending = new Set<Promise<void>>();

  const create = (): Slot => {
    const dialing = new AbortController();
    const client = new Client(options.origin, {
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: options.maxHeaderBytes,
      connect: (_target, done) => {
        options.dial(dialing.signal).then(
          (socket) => {
            slot.socket = socket;
            slot.carried = 0;
            slot.gone = new Promise((resolve) => {
              socket.once("close", () => {
                resolve();
                // Later, because undici's own listeners for this event have not run yet.
                queueMicrotask(() => {
                  if (idle.includes(slot)) drop(slot);
                });
              });
            });
            done(null, socket);
          },
          (error: unknown) => done(error as Error, null),
        );
      },
    });
    const slot: Slot = {
      client,
      carried: 0,
      idleSinceMs: 0,
      socket: undefined,
      gone: Promise.resolve(),
      dialing,
    };
    all.add(slot);
    return slot;
  };

  const drop = (slot: Slot): void => {
    if (!all.delete(slot)) return;
    const at = idle.indexOf(slot);
    if (at >= 0) idle.splice(at, 1);
    slot.dialing.abort(new Error("the exchange is over"));
    const gone = slot.client.destroy().then(() => {
      slot.socket?.destroy();
      return slot.gone;
    });
    ending.add(gone);
    void gone.finally(() => ending.delete(gone));
    serveWaiter();
  };

  const serveWaiter = (): void => {
    for (const waiter of waiters) {
      const slot = take(false);
      if (slot === undefined) return;
      waiters.delete(waiter);
      waiter.start(slot);
    }
  };

  const take = (needsFreshSocket: boolean): Slot | undefined => {
    for (let slot = idle.pop(); slot !== undefined; slot = idle.pop()) {
      const isUsable = slot.socket !== undefined && !slot.socket.destroyed && slot.socket.readable;
      if (isUsable && (!needsFreshSocket || clock.monotonic() - slot.idleSinceMs <= FRESH_MS)) return slot;
      drop(slot);
    }
    return all.size < options.maxSockets ? create() : undefined;
  };

  return {
    take,
    wait(waiter) {
      waiters.add(waiter);
      return () => void waiters.delete(waiter);
    },
    give(slot) {
      slot.carried += 1;
      slot.idleSinceMs = clock.monotonic();
      for (const waiter of waiters) {
        waiters.delete(waiter);
        waiter.start(slot);
        return;
      }
      idle.push(slot);
    },
    drop,
    async close() {
      for (const waiter of waiters) {
        waiters.delete(waiter);
        waiter.closed();
      }
      for (const slot of all) drop(slot);
      await Promise.all(ending);
    },
  };
}
