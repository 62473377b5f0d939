/**
 * HTTP sessions of legacy clients: random ids, a cap, a time to live, one stream to the client each. An id is a name, not a
 * key: the token of the door is asked for on every request. Source: 2025-11-25 basic/transports#session-management.
 */
import { linkAbort, type LinkedAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { randomId, type Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import type { EventStream } from "./event-stream.ts";
import { createLegacyPeer, type LegacyPeer } from "./mcp-legacy.ts";
import type { McpMethods } from "./mcp-methods.ts";
import { ALL_LISTS, type Offers } from "./offers.ts";
import type { Pulse } from "./pulse.ts";

export interface LegacySession {
  readonly id: string;
  readonly peer: LegacyPeer;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** Takes `stream` for messages to the client; an older one ends, because a message goes to one stream only. */
  listenOn(stream: EventStream): void;
}

export interface LegacySessions {
  /** A new session; the one that was idle longest makes room. `undefined` where all are busy. */
  open(): LegacySession | undefined;
  /** The session of that name; using it keeps it alive. */
  use(id: string): LegacySession | undefined;
  /** Ends a session and what runs in it. @returns whether there was one. */
  end(id: string): boolean;
  close(): void;
}

interface SessionLimits {
  readonly maxSessions: number;
  /** Without a request and without a stream. */
  readonly sessionTtlMs: number;
}

const ID_BYTES = 24;

interface Entry extends LegacySession {
  readonly link: LinkedAbort;
  usedAtMs: number;
  stream: EventStream | undefined;
}

export interface SessionsDeps extends SessionLimits {
  readonly mcp: McpMethods;
  readonly offers: Offers;
  readonly clock: Clock;
  readonly random: Random;
  readonly pulse: Pulse;
  readonly signal: AbortSignal;
}

export function createLegacySessions(deps: SessionsDeps): LegacySessions {
  const { clock } = deps;
  /** Least recently used first. */
  const sessions = new Map<string, Entry>();
  let leavePulse: (() => void) | undefined;
  let stopWatching: (() => void) | undefined;

  const isIdle = (entry: Entry): boolean => entry.peer.inFlight.size === 0 && entry.stream?.isOpen !== true;

  const end = (entry: Entry): void => {
    sessions.delete(entry.id);
    entry.link.abort(new PortcullisError("cancelled", "the session is over"));
    entry.stream?.end();
    entry.peer.close();
    if (sessions.size === 0) rest();
  };

  const sweep = (): void => {
    for (const entry of Array.from(sessions.values())) {
      if (isIdle(entry) && clock.monotonic() - entry.usedAtMs > deps.sessionTtlMs) end(entry);
    }
  };

  const tell = (method: string): void => {
    for (const { stream } of sessions.values()) stream?.send({ jsonrpc: "2.0", method });
  };

  const rest = (): void => {
    leavePulse?.();
    stopWatching?.();
    leavePulse = undefined;
    stopWatching = undefined;
  };

  return {
    open() {
      if (sessions.size >= deps.maxSessions) {
        const oldest = Array.from(sessions.values()).find(isIdle);
        if (oldest === undefined) return undefined;
        end(oldest);
      }
      const id = randomId(deps.random, ID_BYTES);
      const link = linkAbort(deps.signal);
      const entry: Entry = {
        id,
        link,
        signal: link.signal,
        peer: createLegacyPeer(deps.mcp, `session:${id}`, (message) => entry.stream?.send(message)),
        usedAtMs: clock.monotonic(),
        stream: undefined,
        listenOn(stream) {
          entry.stream?.end();
          entry.stream = stream;
        },
      };
      sessions.set(id, entry);
      leavePulse ??= deps.pulse.add(sweep);
      stopWatching ??= deps.offers.onChanged(ALL_LISTS, tell);
      return entry;
    },
    use(id) {
      const entry = sessions.get(id);
      if (entry === undefined) return undefined;
      entry.usedAtMs = clock.monotonic();
      sessions.delete(id);
      sessions.set(id, entry);
      return entry;
    },
    end(id) {
      const entry = sessions.get(id);
      if (entry !== undefined) end(entry);
      return entry !== undefined;
    },
    close() {
      for (const entry of Array.from(sessions.values())) end(entry);
    },
  };
}
