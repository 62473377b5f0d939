/**
 * Leases: who may do a thing alone, across processes. Holder and waiters stand in one queue per name in the order in which
 * they came; the first holds the lease. An entry is renewed while its process lives. Whoever waits takes out an entry
 * before it that ran out or whose process is gone. Not re-entrant.
 */
import { abortReason, throwIfAborted } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { Lease, Leases } from "./store.ts";
import type { TopicWatch } from "./topic-listeners.ts";

export interface OwnedLeases extends Leases {
  /** Aborts what is held and what waits, and takes it all out of the queues. */
  close(): Promise<void>;
}

/** An entry as it was seen. */
export interface QueueEntry {
  readonly ticket: number;
  readonly until: number;
}

/** `first`: the first ticket that is good; `gone`: those before it. Good is what has not run out and whose process lives. */
export interface QueueLook {
  readonly first: number | undefined;
  readonly gone: readonly QueueEntry[];
}

/** @param queue in the order of the tickets. */
export function splitQueue<T extends QueueEntry>(
  queue: readonly T[],
  isGood: (entry: T) => boolean,
): QueueLook {
  const first = queue.findIndex(isGood);
  return { first: queue[first]?.ticket, gone: first < 0 ? queue : queue.slice(0, first) };
}

/** The queues of a store. Every change of one is told under the topic `leases`. */
export interface LeaseQueue {
  /** Enters at the end, for `LEASE_MS`. @returns the ticket. */
  enter(name: string): Promise<number>;
  /** For `LEASE_MS` from now. @returns the tickets that are still there. */
  renew(tickets: readonly number[]): Promise<ReadonlySet<number>>;
  leave(ticket: number): Promise<void>;
  look(name: string): Promise<QueueLook>;
  /** Only as they were seen: one may have been renewed meanwhile. */
  takeOut(gone: readonly QueueEntry[]): Promise<void>;
}

export interface LeasesOptions {
  readonly queue: LeaseQueue;
  readonly clock: Clock;
  readonly watch: TopicWatch;
  readonly onFault: (error: unknown) => void;
}

/** How long an entry is good without being renewed. */
export const LEASE_MS = 15_000;
/** The topic under which every change of a queue is told. */
export const LEASE_TOPIC = "leases";
const RENEW_EVERY_MS = 5_000;
/** So much earlier than everybody else the holder itself takes its lease for lost. */
const MARGIN_MS = 2_000;
/** How often a waiter looks whether those before it still live. */
const LOOK_EVERY_MS = 1_000;

/** One place in a queue, waiting or holding. */
interface Place {
  readonly name: string;
  /** `undefined` before it is entered, and after somebody took it out. */
  ticket: number | undefined;
  isHeld: boolean;
  /** On the monotonic clock: from then on others may take the place for given up. */
  goodUntil: number;
  /** Fires then. */
  deadline: Timer | undefined;
  /** Aborted when the lease is lost, its waiting is given up, or the store closes. */
  readonly controller: AbortController;
}

export function createLeases(options: LeasesOptions): OwnedLeases {
  const { queue, clock, watch, onFault } = options;
  const places = new Set<Place>();
  let renewal: Timer | undefined;

  /** A holder has to stop; a waiter is told apart by its place in the queue alone. */
  const lose = (place: Place): void => {
    place.deadline?.cancel();
    if (!place.isHeld) return;
    place.controller.abort(
      new PortcullisError("interrupted", `the lease \`${place.name}\` could not be renewed in time`),
    );
  };

  /** From now on the place is good for `LEASE_MS`, counted from `since` on the monotonic clock. */
  const extend = (place: Place, since: number): void => {
    place.goodUntil = since + LEASE_MS - MARGIN_MS;
    place.deadline?.cancel();
    place.deadline = clock.timer(place.goodUntil - clock.monotonic(), () => lose(place));
  };

  const enter = async (place: Place): Promise<number> => {
    const since = clock.monotonic();
    const ticket = await queue.enter(place.name);
    place.ticket = ticket;
    extend(place, since);
    return ticket;
  };

  const leave = async (place: Place): Promise<void> => {
    places.delete(place);
    place.deadline?.cancel();
    if (places.size === 0) {
      renewal?.cancel();
      renewal = undefined;
    }
    const { ticket } = place;
    if (ticket === undefined) return;
    place.ticket = undefined;
    await queue.leave(ticket);
  };

  const renew = async (): Promise<void> => {
    const since = clock.monotonic();
    const asked = [...places].flatMap((place) =>
      place.ticket === undefined ? [] : [{ place, ticket: place.ticket }],
    );
    if (asked.length === 0) return;
    const kept = await queue.renew(asked.map(({ ticket }) => ticket));
    for (const one of asked) {
      // Released, lost or entered anew meanwhile: what was renewed is no longer this place.
      if (!places.has(one.place) || one.place.ticket !== one.ticket) continue;
      if (kept.has(one.ticket)) {
        extend(one.place, since);
        continue;
      }
      // Somebody took it out.
      lose(one.place);
      one.place.ticket = undefined;
    }
  };

  const planRenewal = (): void => {
    renewal ??= clock.timer(RENEW_EVERY_MS, () => {
      renew()
        .catch(onFault)
        .finally(() => {
          renewal = undefined;
          if (places.size > 0) planRenewal();
        });
    });
  };

  /** Whether `place` is the first of its queue, after those before it that are gone were taken out. */
  const isFirst = async (place: Place): Promise<boolean> => {
    const { first, gone } = await queue.look(place.name);
    if (gone.length > 0) {
      await queue.takeOut(gone);
      // A place that was not renewed in time is entered again at the end.
      if (gone.some(({ ticket }) => ticket === place.ticket)) place.ticket = undefined;
      return false;
    }
    return first !== undefined && first === place.ticket;
  };

  const untilFirst = async (place: Place): Promise<void> => {
    const { signal } = place.controller;
    for (;;) {
      // Listen first, then look: a release in between is not missed.
      const change = listenForChange(watch, clock, signal);
      try {
        throwIfAborted(signal);
        if (place.ticket === undefined) await enter(place);
        const isNext = await isFirst(place);
        throwIfAborted(signal);
        if (isNext && clock.monotonic() < place.goodUntil) {
          place.isHeld = true;
          return;
        }
        // First, but too close to its end to begin with.
        if (isNext) await renew();
        else await change.done;
      } finally {
        change.stop();
      }
    }
  };

  return {
    async acquire(name, signal): Promise<Lease> {
      throwIfAborted(signal);
      const place: Place = {
        name,
        ticket: undefined,
        isHeld: false,
        goodUntil: 0,
        deadline: undefined,
        controller: new AbortController(),
      };
      const onAbort = (): void => place.controller.abort(abortReason(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      places.add(place);
      planRenewal();
      try {
        await untilFirst(place);
      } catch (error) {
        await leave(place).catch(onFault);
        throw error;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
      return { name, signal: place.controller.signal, release: () => leave(place) };
    },

    async close() {
      const open = [...places];
      for (const place of open)
        place.controller.abort(new PortcullisError("interrupted", "the store is closed"));
      await Promise.all(open.map((place) => leave(place).catch(onFault)));
    },
  };
}

/** `done` resolves when a queue may have changed, when it is time to look again, or when `signal` is aborted. */
function listenForChange(
  watch: TopicWatch,
  clock: Clock,
  signal: AbortSignal,
): { readonly done: Promise<void>; readonly stop: () => void } {
  const ended = new AbortController();
  const stop = (): void => ended.abort(new Error("no longer waiting"));
  const off = watch.on(LEASE_TOPIC, stop);
  signal.addEventListener("abort", stop, { once: true });
  // A sleep and no timer: whoever waits for a lease keeps the process alive.
  const done = clock.sleep(LOOK_EVERY_MS, ended.signal).catch(() => undefined);
  return {
    done,
    stop() {
      stop();
      off();
      signal.removeEventListener("abort", stop);
    },
  };
}
