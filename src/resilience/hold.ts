/**
 * How long a server asked to be left alone (`Retry-After` of a 429 or 503): it holds every call to that server, not only the one that
 * was told. A short hold is waited for; of a longer one the caller is told at once, because nobody sits through it unknowing.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";

export interface Hold {
  /** Milliseconds until calls may go again; 0: now. */
  leftMs(): number;
  /** The server asks for so long from now. What it asked for before counts where that is later. */
  ask(forMs: number): void;
  /** Calls may go again at once: a person asked. */
  clear(): void;
  /**
   * How long a call waits, milliseconds.
   *
   * @param withinMs what the call has left: it does not wait beyond that either.
   * @throws PortcullisError `server_unavailable`, never sent, with `data.retryAtMs`: too long to be waited for.
   */
  waitMs(withinMs: number): number;
}

/** A server that asks for more is tried again all the same; it can ask once more. */
export const MAX_HOLD_MS = 300_000;
const MAX_WAIT_MS = 5_000;

/** @param name of the server, for the message. */
export function createHold(clock: Clock, name: string): Hold {
  let untilMs = 0;
  const leftMs = (): number => Math.max(0, untilMs - clock.monotonic());
  return {
    leftMs,
    ask(forMs) {
      untilMs = Math.max(untilMs, clock.monotonic() + Math.min(forMs, MAX_HOLD_MS));
    },
    clear() {
      untilMs = 0;
    },
    waitMs(withinMs) {
      const heldMs = leftMs();
      if (heldMs === 0 || heldMs <= Math.min(MAX_WAIT_MS, withinMs)) return heldMs;
      const retryAtMs = clock.now() + heldMs;
      const until = new Date(retryAtMs).toISOString().slice(11, 19);
      const message = `\`${name}\` asked to be left alone for another ${Math.ceil(heldMs / 1_000)} s, until ${until} UTC`;
      throw new PortcullisError("server_unavailable", message, {
        data: { because: "rate_limited", retryAfterMs: heldMs, retryAtMs, wasSent: false },
      });
    },
  };
}
