/**
 * When the lists of one connection are read again: soon after a change was announced or their time was up, once for a burst, and ever
 * more rarely for a server that announces changes which are none. Who is about to use what was announced as changed waits for it.
 */
import { linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";

export interface ListRefresh {
  /** The server says that something changed. */
  announced(): void;
  /** The time of what is known is up, and somebody is about to use it. */
  due(): void;
  /**
   * Reads now what was announced, and waits for it, at most 5 s; `undefined` where nothing was announced, or where the server does so
   * all the time for nothing. False: it could not be read in time. @throws the signal's reason.
   */
  settle(signal: AbortSignal): Promise<boolean> | undefined;
  stop(): void;
}

const FIRST_SPACING_MS = 250;
const MAX_SPACING_MS = 30_000;
/** Two announcements in a row that were none are waited for, no more. */
const MAX_AWAITED_SPACING_MS = 500;
const SETTLE_MS = 5_000;

type State =
  | { readonly kind: "resting" }
  | { readonly kind: "scheduled"; readonly timer: Timer }
  /** `isAgain`: something was announced meanwhile, so it is read once more. */
  | { readonly kind: "reading"; readonly isAgain: boolean };

/** @param read reads the lists; resolves with whether anything changed. */
export function createListRefresh(
  clock: Clock,
  read: (signal: AbortSignal) => Promise<boolean>,
): ListRefresh {
  const over = new AbortController();
  let state: State = { kind: "resting" };
  let spacingMs = FIRST_SPACING_MS;
  let readAtMs = -Infinity;
  /** From an announcement until a reading that began after it. */
  let awaited: PromiseWithResolvers<boolean> | undefined;

  const readSoon = (): void => {
    if (state.kind !== "resting" || over.signal.aborted) return;
    state = { kind: "scheduled", timer: clock.timer(spacingMs, () => void readNow()) };
  };

  const readNow = async (): Promise<void> => {
    state = { kind: "reading", isAgain: false };
    let isChanged = false;
    let isRead = true;
    try {
      isChanged = await read(over.signal);
    } catch {
      // The connection notices a dead server by itself; the list stays marked as stale.
      isRead = false;
    }
    readAtMs = clock.monotonic();
    spacingMs = isChanged ? FIRST_SPACING_MS : Math.min(spacingMs * 2, MAX_SPACING_MS);
    const { isAgain } = state;
    state = { kind: "resting" };
    if (isAgain) {
      readSoon();
      return;
    }
    awaited?.resolve(isRead);
    awaited = undefined;
  };

  return {
    announced() {
      if (clock.monotonic() - readAtMs > MAX_SPACING_MS) spacingMs = FIRST_SPACING_MS;
      awaited ??= Promise.withResolvers<boolean>();
      if (state.kind === "reading") state = { kind: "reading", isAgain: true };
      else readSoon();
    },
    due: readSoon,
    settle(signal) {
      if (awaited === undefined || spacingMs > MAX_AWAITED_SPACING_MS) return undefined;
      if (state.kind === "scheduled") {
        state.timer.cancel();
        void readNow();
      }
      return waitFor(awaited.promise, clock, signal);
    },
    stop() {
      if (state.kind === "scheduled") state.timer.cancel();
      over.abort(new Error("the connection is over"));
      awaited?.resolve(false);
      awaited = undefined;
    },
  };
}

async function waitFor(reading: Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const link = linkAbort(signal);
  const timer = clock.timer(SETTLE_MS, () => link.abort(new Error("it took too long")));
  try {
    return await untilAborted(reading, link.signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  } finally {
    timer.cancel();
    link.unlink();
  }
}
