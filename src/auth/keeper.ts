/**
 * Keeps the tokens of one connection fresh. Invariants:
 * - one renewal at a time, in this process and across all that share the store (a lease); whoever waited reads the store again
 *   and takes what the other has got, so that a one-time refresh token is used once;
 * - new tokens are on disk before anybody uses them;
 * - a renewal belongs to no single request: it goes on when a caller gives up, and ends by its own deadline.
 */
import { linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { holdProcess } from "../base/keep-alive.ts";
import { PortcullisError } from "../errors.ts";
import type { Leases } from "../store/store.ts";
import { judgeFreshness, type TokenSet, type TokenStore } from "./tokens.ts";

/**
 * Gets other tokens than `before`. @throws PortcullisError `auth_required` or `auth_failed` where only a person or the operator
 * can help, `http_error` where it may work later.
 */
export type Renew = (before: TokenSet | undefined, signal: AbortSignal) => Promise<TokenSet>;

export interface Keeper {
  /**
   * The tokens for a request now, renewed where they are about to end; `undefined` where there are none that could be used (at
   * once, where that is known: a server without authorization shall not wait for it with every request).
   * @throws PortcullisError where they have ended and cannot be renewed now.
   */
  current(signal: AbortSignal | undefined): Promise<TokenSet | undefined> | undefined;
  /**
   * Other tokens than those that were refused. @param isRefused whether the server refused this access token.
   * @throws PortcullisError as `renew` does, or the signal's reason.
   */
  replace(
    isRefused: (accessToken: string) => boolean,
    renew: Renew,
    signal: AbortSignal | undefined,
  ): Promise<TokenSet>;
  /** The store may hold others: they are read before the next use. */
  reload(): void;
  /** Waits for a renewal that runs, at most `graceMs`, then ends it. */
  close(graceMs: number): Promise<void>;
}

export interface KeeperOptions {
  /** Of the lease: the same for all processes and connections that share the tokens. */
  readonly name: string;
  readonly store: TokenStore;
  readonly leases: Leases;
  readonly clock: Clock;
  /** How tokens are renewed before their end; may not need a person. `undefined`: these tokens cannot be. */
  readonly renewAhead: (tokens: TokenSet) => Renew | undefined;
  /** Told of all tokens that are read or got, before anybody uses them. */
  readonly onTokens: (tokens: TokenSet) => void;
}

/** Lease, discovery and token request together. */
const RENEWAL_MS = 60_000;

export function createKeeper(options: KeeperOptions): Keeper {
  const { store, leases, clock } = options;
  const lifetime = new AbortController();
  /** `none`: read, and there were none. */
  let cached: Promise<TokenSet | undefined> | "none" | undefined;
  let running: Promise<TokenSet> | undefined;

  const read = async (): Promise<TokenSet | undefined> => {
    const tokens = await store.read();
    if (tokens !== undefined) options.onTokens(tokens);
    return tokens;
  };

  const load = (): Promise<TokenSet | undefined> => {
    const mine = read();
    cached = mine;
    mine.then(
      (tokens) => {
        if (cached === mine && tokens === undefined) cached = "none";
      },
      () => {
        if (cached === mine) cached = undefined;
      },
    );
    return mine;
  };

  /** Under the lease: takes what another process has got meanwhile, or renews and stores. */
  const renewAlone = async (isRefused: (accessToken: string) => boolean, renew: Renew): Promise<TokenSet> => {
    const link = linkAbort(lifetime.signal);
    const late = clock.timer(RENEWAL_MS, () =>
      link.abort(new PortcullisError("http_error", "the authorization server did not answer in time")),
    );
    const letGo = holdProcess();
    try {
      const lease = await leases.acquire(options.name, link.signal);
      try {
        const stored = await read();
        if (
          stored !== undefined &&
          !isRefused(stored.accessToken) &&
          judgeFreshness(stored, clock.now()) === "good"
        ) {
          cached = Promise.resolve(stored);
          return stored;
        }
        const fresh = await renew(stored, link.signal);
        options.onTokens(fresh);
        await store.write(fresh);
        cached = Promise.resolve(fresh);
        return fresh;
      } finally {
        // Whatever happened, the store says what is true now.
        await lease.release();
      }
    } finally {
      late.cancel();
      link.unlink();
      letGo();
    }
  };

  const replace: Keeper["replace"] = (isRefused, renew, signal) => {
    if (running === undefined) {
      const mine = renewAlone(isRefused, renew).finally(() => {
        if (running === mine) running = undefined;
      });
      mine.catch(() => {
        cached = undefined;
      });
      running = mine;
    }
    return untilAborted(running, signal);
  };

  const fresh = async (tokens: TokenSet, signal: AbortSignal | undefined): Promise<TokenSet | undefined> => {
    const freshness = judgeFreshness(tokens, clock.now());
    if (freshness === "good") return tokens;
    const renew = options.renewAhead(tokens);
    if (renew === undefined) return freshness === "ageing" ? tokens : undefined;
    try {
      return await replace((accessToken) => accessToken === tokens.accessToken, renew, signal);
    } catch (error) {
      // Still good: the next use tries again, and a 401 says when it is over.
      if (freshness === "ageing" && signal?.aborted !== true) return tokens;
      throw error;
    }
  };

  return {
    current(signal) {
      if (cached === "none") return undefined;
      return (cached ?? load()).then((tokens) => (tokens === undefined ? undefined : fresh(tokens, signal)));
    },
    replace,
    reload() {
      cached = undefined;
    },
    async close(graceMs) {
      const timer = clock.timer(graceMs, () =>
        lifetime.abort(new PortcullisError("interrupted", "the host is closed")),
      );
      await running?.catch(() => undefined);
      timer.cancel();
      lifetime.abort(new PortcullisError("interrupted", "the host is closed"));
    },
  };
}
