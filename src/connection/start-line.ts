/**
 * Who may start now: so many servers at a time, and those that were well before those that were not, so that a broken server
 * takes neither a place nor the processor from a good one. Starts of one turn of the event loop stand in line together.
 */
import { abortReason } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";

/** What is known of a server before it starts, in the order of their turn. */
const START_PROSPECTS = ["well", "unknown", "failing"] as const;
export type StartProspect = (typeof START_PROSPECTS)[number];

/** @param failures of this process since the last health. @param lastProof what the state remembers, of this process or another. */
export function prospectOf(failures: number, lastProof: { readonly ok: boolean } | undefined): StartProspect {
  if (failures > 0) return "failing";
  if (lastProof === undefined) return "unknown";
  return lastProof.ok ? "well" : "failing";
}

/**
 * Whose turn it is. Pure. Nobody starts while one of better prospects waits or holds a place; failing ones hold at most half of the
 * places, but always one, so that a good server which comes later finds a place.
 *
 * @param waiting in the order in which they came. @param holding those that hold a place now. @param places how many there are.
 * @returns the index in `waiting`; `undefined` where none may start.
 */
export function nextToStart(
  waiting: readonly StartProspect[],
  holding: readonly StartProspect[],
  places: number,
): number | undefined {
  const best = START_PROSPECTS.find((prospect) => waiting.includes(prospect) || holding.includes(prospect));
  if (best === undefined) return undefined;
  const at = waiting.indexOf(best);
  const room = best === "failing" ? Math.max(1, Math.floor(places / 2)) : places;
  return at < 0 || holding.length >= room ? undefined : at;
}

export interface StartLine {
  /** Waits for its turn. The returned function gives the place back. @throws the signal's reason. */
  enter(prospect: StartProspect, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly prospect: StartProspect;
  readonly admit: () => void;
}

/**
 * A server of Node.js or Python answers within this where it runs at all; what takes longer downloads, waits for a network or hangs,
 * and needs no processor for it: the start goes on, its place goes to the next.
 */
const PLACE_MS = 500;

/** @param places how many start at a time; asked at every turn. */
export function createStartLine(clock: Clock, places: () => number): StartLine {
  const waiting: Waiting[] = [];
  const holding: StartProspect[] = [];
  let isTurnSet = false;

  const turn = (): void => {
    for (;;) {
      const prospects = waiting.map(({ prospect }) => prospect);
      const at = nextToStart(prospects, holding, places());
      if (at === undefined) return;
      const [next] = waiting.splice(at, 1);
      next?.admit();
    }
  };

  /** Who comes in the same turn is compared, whatever the order in which they came. */
  const setTurn = (): void => {
    if (isTurnSet) return;
    isTurnSet = true;
    setImmediate(() => {
      isTurnSet = false;
      turn();
    });
  };

  const hold = (prospect: StartProspect): (() => void) => {
    holding.push(prospect);
    let isHeld = true;
    const leave = (): void => {
      if (!isHeld) return;
      isHeld = false;
      timer.cancel();
      holding.splice(holding.indexOf(prospect), 1);
      setTurn();
    };
    const timer = clock.timer(PLACE_MS, leave);
    return leave;
  };

  return {
    enter: (prospect, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(abortReason(signal));
          return;
        }
        const entry: Waiting = {
          prospect,
          admit: () => {
            signal.removeEventListener("abort", onAbort);
            resolve(hold(prospect));
          },
        };
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(abortReason(signal));
        };
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.push(entry);
        setTurn();
      }),
  };
}
