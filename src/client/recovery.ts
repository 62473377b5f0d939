/**
 * What all requests of a client share when the server refuses them for a reason that can be mended: another authorization,
 * a new session. One mending at a time; everybody else waits for it.
 *
 * Invariants: nothing is sent while a mending runs; a request that met an old refusal after the mending only goes again; a
 * mending that failed fails everybody who waited for it.
 */
import { untilAborted } from "../base/abort.ts";
import type { PortcullisError } from "../errors.ts";

export interface Recovery {
  /** Something to wait for before sending; `undefined` nearly always. */
  readonly gate: Promise<void> | undefined;
  /** Grows with every mending. A request remembers the one it was sent under. */
  readonly epoch: number;
  /** Headers of the last authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** @returns whether the request is worth sending again. @throws what the hook throws, or the signal's reason. */
  authorize(error: PortcullisError, sentInEpoch: number, signal: AbortSignal | undefined): Promise<boolean>;
  /** Waits for a new session. @throws what the renewal throws, or the signal's reason. */
  renew(sentInEpoch: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createRecovery(options: {
  /** Aborted with the client: mending belongs to nobody else. */
  readonly signal: AbortSignal;
  authorize: ((error: PortcullisError, signal: AbortSignal) => Promise<Readonly<Record<string, string>> | undefined>) | undefined;
  renewSession(signal: AbortSignal): Promise<void>;
}): Recovery {
  let running: Promise<boolean> | undefined;
  let gate: Promise<void> | undefined;
  let epoch = 0;
  let headers: Readonly<Record<string, string>> = {};

  const mend = (work: () => Promise<boolean>): Promise<boolean> => {
    const mine = work().then((isMended) => {
      if (isMended) epoch += 1;
      return isMended;
    });
    running = mine;
    gate = mine.then(
      () => undefined,
      () => undefined,
    );
    const clear = (): void => {
      if (running !== mine) return;
      running = undefined;
      gate = undefined;
    };
    mine.then(clear, clear);
    return mine;
  };

  return {
    get gate() {
      return gate;
    },
    get epoch() {
      return epoch;
    },
    get headers() {
      return headers;
    },
    async authorize(error, sentInEpoch, signal) {
      if (options.authorize === undefined) return false;
      if (sentInEpoch < epoch) return true;
      const hook = options.authorize;
      const work = async (): Promise<boolean> => {
        const fresh = await hook(error, options.signal);
        if (fresh === undefined) return false;
        headers = { ...headers, ...fresh };
        return true;
      };
      return untilAborted(running ?? mend(work), signal);
    },
    async renew(sentInEpoch, signal) {
      if (sentInEpoch < epoch) return;
      const work = async (): Promise<boolean> => {
        await options.renewSession(options.signal);
        return true;
      };
      await untilAborted(running ?? mend(work), signal);
    },
  };
}
