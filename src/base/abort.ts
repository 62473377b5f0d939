/** Signals: every wait takes one, and ends with its reason as soon as it is aborted. */

import { createRoster, type Roster, type Seat } from "./roster.ts";

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

/** Who follows a signal: one listener for all of them, because an `EventTarget` searches its list for every removal. */
interface Following {
  readonly links: Roster<(reason: Error) => void>;
  readonly onAbort: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();

function followingOf(parent: AbortSignal): Following {
  const known = followings.get(parent);
  if (known !== undefined) return known;
  const links: Following["links"] = createRoster();
  const onAbort = (): void => {
    for (const end of links.list()) end(abortReason(parent));
  };
  const following = { links, onAbort };
  followings.set(parent, following);
  return following;
}

/** @returns its seat among the followers, to be given back to `unfollow`. */
function follow(parent: AbortSignal, end: (reason: Error) => void): Seat<(reason: Error) => void> {
  const { links, onAbort } = followingOf(parent);
  if (links.size() === 0) parent.addEventListener("abort", onAbort, { once: true });
  return links.add(end);
}

function unfollow(parent: AbortSignal, seat: Seat<(reason: Error) => void>): void {
  const { links, onAbort } = followingOf(parent);
  if (links.remove(seat) && links.size() === 0) parent.removeEventListener("abort", onAbort);
}

/** A controller that aborts when one of `parents` does. Unlike `AbortSignal.any` it leaves no listener behind once unlinked. */
export function linkAbort(...parents: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController();
  const seats: (Seat<(reason: Error) => void> | undefined)[] = [];
  const unlink = (): void => {
    for (let at = 0; at < seats.length; at += 1) {
      const parent = parents[at];
      const seat = seats[at];
      if (parent !== undefined && seat !== undefined) unfollow(parent, seat);
    }
  };
  const abort = (reason: Error): void => {
    unlink();
    controller.abort(reason);
  };
  const aborted = parents.find((parent) => parent?.aborted === true);
  if (aborted !== undefined) controller.abort(abortReason(aborted));
  else for (const parent of parents) seats.push(parent === undefined ? undefined : follow(parent, abort));
  return { signal: controller.signal, abort, unlink };
}
