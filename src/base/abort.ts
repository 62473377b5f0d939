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

/** Who follows a signal. */
interface Followed {
  follow(follower: Follower): Seat<Follower>;
  unfollow(seat: Seat<Follower>): void;
}

/** On the signal of a link: the link, which tells its followers itself. */
const LINK = Symbol("link");
type LinkedSignal = AbortSignal & { [LINK]?: Followed };

/** Any other signal has one listener for all its followers: an `EventTarget` searches its list for every removal, and where
 * listeners overlap each that is gone keeps the next one alive. */
const foreign = new WeakMap<AbortSignal, Followed>();

function followedOf(signal: LinkedSignal): Followed {
  const known = signal[LINK] ?? foreign.get(signal);
  if (known !== undefined) return known;
  const followers = createRoster<Follower>();
  const tell = (): void => {
    for (const follower of followers.list()) follower(abortReason(signal));
  };
  const made: Followed = {
    follow(follower) {
      if (followers.size() === 0) signal.addEventListener("abort", tell, { once: true });
      return followers.add(follower);
    },
    unfollow(seat) {
      if (followers.remove(seat) && followers.size() === 0) signal.removeEventListener("abort", tell);
    },
  };
  foreign.set(signal, made);
  return made;
}

/**
 * Calls `listener` once when `signal` aborts; a signal that is aborted already is the caller's to notice. Cheaper than a listener
 * on the signal where it is one of `linkAbort`.
 *
 * @returns the end of it.
 */
export function onAbort(signal: AbortSignal, listener: (reason: Error) => void): () => void {
  const followed = followedOf(signal);
  const seat = followed.follow(listener);
  return () => followed.unfollow(seat);
}

/** A controller that aborts when one of `parents` does. Unlike `AbortSignal.any` it leaves no listener behind once unlinked. */
export function linkAbort(...parents: readonly (AbortSignal | undefined)[]): LinkedAbort {
  return new Link(parents);
}

class Link implements LinkedAbort, Followed {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #followers: Roster<Follower> | undefined;
  /** What it follows, and its seats there. */
  #followed: { readonly parent: Followed; readonly seat: Seat<Follower> }[] | undefined;

  constructor(parents: readonly (AbortSignal | undefined)[]) {
    this.signal = this.#controller.signal;
    (this.signal as LinkedSignal)[LINK] = this;
    if (parents.length === 0) return;
    const aborted = parents.find((parent) => parent?.aborted === true);
    if (aborted !== undefined) this.#controller.abort(abortReason(aborted));
    else this.#follow(parents);
  }

  #follow(parents: readonly (AbortSignal | undefined)[]): void {
    const follower: Follower = (reason) => this.abort(reason);
    this.#followed = [];
    for (const signal of parents) {
      if (signal === undefined) continue;
      const parent = followedOf(signal);
      this.#followed.push({ parent, seat: parent.follow(follower) });
    }
  }

  abort(reason: Error): void {
    this.unlink();
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    for (const follower of this.#followers?.list() ?? []) follower(reason);
  }

  unlink(): void {
    const followed = this.#followed;
    this.#followed = undefined;
    for (const { parent, seat } of followed ?? []) parent.unfollow(seat);
  }

  follow(follower: Follower): Seat<Follower> {
    this.#followers ??= createRoster();
    return this.#followers.add(follower);
  }

  unfollow(seat: Seat<Follower>): void {
    this.#followers?.remove(seat);
  }
}
