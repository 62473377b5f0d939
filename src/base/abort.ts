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

type Follower = (reason: Error) => void;
type Followers = Roster<Follower>;

/**
 * Who follows a signal. One of our own tells its followers itself; of any other there is one listener for all of them, because
 * an `EventTarget` searches its list for every removal, and where listeners overlap each that is gone keeps the next one alive.
 */
const FOLLOWERS = Symbol("followers");
type FollowedSignal = AbortSignal & { [FOLLOWERS]?: Followers };

const foreign = new WeakMap<AbortSignal, { readonly followers: Followers; readonly tell: () => void }>();

function foreignOf(signal: AbortSignal) {
  const known = foreign.get(signal);
  if (known !== undefined) return known;
  const followers: Followers = createRoster();
  const tell = (): void => {
    for (const follower of followers.list()) follower(abortReason(signal));
  };
  const made = { followers, tell };
  foreign.set(signal, made);
  return made;
}

function follow(signal: FollowedSignal, follower: Follower): Seat<Follower> {
  const own = signal[FOLLOWERS];
  if (own !== undefined) return own.add(follower);
  const { followers, tell } = foreignOf(signal);
  if (followers.size() === 0) signal.addEventListener("abort", tell, { once: true });
  return followers.add(follower);
}

function unfollow(signal: FollowedSignal, seat: Seat<Follower>): void {
  const own = signal[FOLLOWERS];
  if (own !== undefined) {
    own.remove(seat);
    return;
  }
  const { followers, tell } = foreignOf(signal);
  if (followers.remove(seat) && followers.size() === 0) signal.removeEventListener("abort", tell);
}

/**
 * Calls `listener` once when `signal` aborts; a signal that is aborted already is the caller's to notice. Cheaper than a listener
 * on the signal where it is one of `linkAbort`.
 *
 * @returns the end of it.
 */
export function onAbort(signal: AbortSignal, listener: (reason: Error) => void): () => void {
  const seat = follow(signal, listener);
  return () => unfollow(signal, seat);
}

/** A controller that aborts when one of `parents` does. Unlike `AbortSignal.any` it leaves no listener behind once unlinked. */
export function linkAbort(...parents: readonly (AbortSignal | undefined)[]): LinkedAbort {
  return new Link(parents);
}

class Link implements LinkedAbort {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #followers: Followers = createRoster();
  readonly #parents: readonly (AbortSignal | undefined)[];
  #seats: (Seat<Follower> | undefined)[] = [];

  constructor(parents: readonly (AbortSignal | undefined)[]) {
    this.#parents = parents;
    this.signal = this.#controller.signal;
    (this.signal as FollowedSignal)[FOLLOWERS] = this.#followers;
    const aborted = parents.find((parent) => parent?.aborted === true);
    if (aborted !== undefined) {
      this.#controller.abort(abortReason(aborted));
      return;
    }
    const follower: Follower = (reason) => this.abort(reason);
    for (const parent of parents)
      this.#seats.push(parent === undefined ? undefined : follow(parent, follower));
  }

  abort(reason: Error): void {
    this.unlink();
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    for (const follower of this.#followers.list()) follower(reason);
  }

  unlink(): void {
    const seats = this.#seats;
    if (seats.length === 0) return;
    this.#seats = [];
    for (let at = 0; at < seats.length; at += 1) {
      const parent = this.#parents[at];
      const seat = seats[at];
      if (parent !== undefined && seat !== undefined) unfollow(parent, seat);
    }
  }
}
