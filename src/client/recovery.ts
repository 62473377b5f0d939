/**
 * What all requests of a client share when the server refuses them for a reason that can be mended: another authorization,
 * a new session. One mending at a time; everybody else waits for it.
 *
 * Invariants: nothing is sent while a mending runs; a request that met an old refusal after the mending only goes again; a
 * mending that failed fails everybody who waited for it.
 */
import { untilAborted } from "../base/abort.ts";
import type { PortcullisError } from "../errors.ts";

/** How often each thing was mended: a request remembers what it was sent under. */
export interface Epoch {
  readonly authorization: number;
  readonly session: number;
}

export interface Recovery {
  /** Something to wait for before sending; `undefined` nearly always. */
  readonly gate: Promise<void> | undefined;
  readonly epoch: Epoch;
  /** Headers of the last authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** @returns whether the request is worth sending again. @throws what the hook throws, or the signal's reason. */
  authorize(error: PortcullisError, sentUnder: Epoch, signal: AbortSignal | undefined): Promise<boolean>;
  /** Waits for a new session. @throws what the renewal throws, or the signal's reason. */
  renew(sentUnder: Epoch, signal: AbortSignal | undefined): Promise<void>;
  /** An answer that may mean a lost session, or not: the next request finds out before it is sent. */
  doubtSession(): void;
  /** Set while the session is in doubt. */
  readonly isInDoubt: boolean;
  /** Finds out, once for all that wait, and renews the session where it is lost. @throws like `renew`. */
  resolveDoubt(signal: AbortSignal | undefined): Promise<void>;
  /** For a handshake, which is nobody's but its own: asks the hook without waiting for a mending that may wait for it. */
  authorizeHandshake(error: PortcullisError): Promise<boolean>;
}

export type AuthorizeHook = (
  error: PortcullisError,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>;

export function createRecovery(options: {
  /** Aborted with the client: a mending belongs to no single request. */
  readonly signal: AbortSignal;
  readonly authorize: AuthorizeHook | undefined;
  readonly renewSession: (signal: AbortSignal) => Promise<void>;
  /** Whether the server still knows the session. */
  readonly isSessionAlive: (signal: AbortSignal) => Promise<boolean>;
}): Recovery {
  let running:
    | { readonly kind: keyof Epoch; readonly work: Promise<boolean>; readonly over: Promise<void> }
    | undefined;
  let epoch: Epoch = { authorization: 0, session: 0 };
  let headers: Readonly<Record<string, string>> = {};
  let isInDoubt = false;

  const askHook = async (error: PortcullisError): Promise<boolean> => {
    const fresh = await options.authorize?.(error, options.signal);
    if (fresh === undefined) return false;
    headers = { ...headers, ...fresh };
    return true;
  };

  const start = (kind: keyof Epoch, mend: () => Promise<boolean>): Promise<boolean> => {
    const work = mend().then((isMended) => {
      if (isMended) epoch = { ...epoch, [kind]: epoch[kind] + 1 };
      return isMended;
    });
    const clear = (): void => {
      if (running === mine) running = undefined;
    };
    const over = work.then(clear, clear);
    const mine = { kind, work, over };
    running = mine;
    return work;
  };

  const mend = async (
    kind: keyof Epoch,
    sentUnder: Epoch,
    signal: AbortSignal | undefined,
    work: () => Promise<boolean>,
  ): Promise<boolean> => {
    // Another kind of mending comes first; after it this one may not be needed any more.
    while (running !== undefined && running.kind !== kind) await untilAborted(running.over, signal);
    if (sentUnder[kind] < epoch[kind]) return true;
    return untilAborted(running?.work ?? start(kind, work), signal);
  };

  return {
    get gate() {
      return running?.over;
    },
    get epoch() {
      return epoch;
    },
    get headers() {
      return headers;
    },
    async authorize(error, sentUnder, signal) {
      if (options.authorize === undefined) return false;
      return mend("authorization", sentUnder, signal, () => askHook(error));
    },
    async renew(sentUnder, signal) {
      await mend("session", sentUnder, signal, async () => {
        isInDoubt = false;
        await options.renewSession(options.signal);
        return true;
      });
    },
    doubtSession() {
      isInDoubt = true;
    },
    get isInDoubt() {
      return isInDoubt;
    },
    async resolveDoubt(signal) {
      await mend("session", epoch, signal, async () => {
        isInDoubt = false;
        if (await options.isSessionAlive(options.signal)) return false;
        await options.renewSession(options.signal);
        return true;
      });
    },
    authorizeHandshake: askHook,
  };
}
