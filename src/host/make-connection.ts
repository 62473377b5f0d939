/** A connection of the pool: how it is opened, when it is made anew, who hears of it. */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { ClientEvent } from "../client/events.ts";
import type { Client } from "../client/client.ts";
import type { Config } from "../config/compiled.ts";
import type { ResolveSecret } from "../config/secrets.ts";
import { createConnection, type Connection } from "../connection/connection.ts";
import { nextDelayMs, reconnectBackoff, restartBackoff } from "../resilience/backoff.ts";
import { createLimiter } from "../resilience/limiter.ts";
import type { Documents } from "../store/store.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { Redactor } from "../text/redact.ts";
import type { RegisterChild } from "../transport/stdio-options.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import type { Catalogs } from "./catalogs.ts";
import { requireServer } from "./core.ts";
import type { Health } from "./health.ts";
import { createOpenSession, type HostSession } from "./open-session.ts";

export interface ConnectionDeps {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  readonly documents: Documents;
  readonly registerChild: RegisterChild;
  readonly resolveSecret?: ResolveSecret;
  readonly catalogs: Catalogs;
  readonly health: Health;
  readonly emit: (event: HostEvent) => void;
  readonly onFault: (error: unknown) => void;
}

const HEARTBEAT = { silenceMs: 60_000, timeoutMs: 10_000 } as const;
/** Starts that may wait for their turn: every server of a large configuration. */
const START_QUEUE = 10_000;

/** @returns the way to make a connection, for the pool. */
export function createMakeConnection(deps: ConnectionDeps): (key: ConnectionKey) => Connection<HostSession> {
  const { clock, random, catalogs, health, emit } = deps;
  // Eight at a time: one that hangs takes one place, and delays nobody else for long.
  const starts = createLimiter("starting servers", deps.config().limits.startAtOnce, START_QUEUE);

  return (key) => {
    const server = requireServer(deps.config(), key.server);
    const isStdio = server.launch.kind === "stdio";
    const backoff = isStdio ? restartBackoff : reconnectBackoff;
    const open = createOpenSession(key, server, {
      ...deps,
      config: deps.config(),
      inputs: () => undefined,
      refreshCatalog: (session, client, facts, signal) => catalogs.refresh(session, client, facts, signal),
      onClientEvent: (_key, event, client) => hear(key, event, client),
    });
    const hear = (of: ConnectionKey, event: ClientEvent, client: Client): void => {
      if (event.type === "odd")
        emit({ type: "connection.odd", at: clock.now(), key: of, kind: event.kind, sample: event.sample });
      if (event.type === "list_changed" && client.facts !== undefined)
        catalogs.changed(of, client, client.facts);
    };
    let facts: HostSession["facts"] | undefined;
    const connection = createConnection<HostSession>({
      key,
      clock,
      connectMs: server.limits.connectMs,
      idleStopMs: isStdio ? server.idleStopMs : null,
      heartbeat: HEARTBEAT,
      plan: {
        maxRestarts: isStdio ? 3 : 4,
        whenExhausted: isStdio ? "dead" : "idle",
        delayMs: (restart, retryAfterMs) => nextDelayMs(backoff, restart, random, retryAfterMs),
      },
      open: async (signal, events) => {
        const leave = await starts.enter(signal);
        try {
          const session = await open(signal, events);
          facts = session.facts;
          if (facts.era === "modern") listenToLists(session.client);
          return session;
        } finally {
          leave();
        }
      },
    });
    connection.onChange(({ from, to }) => {
      const proof = connection.lastProof;
      if (proof !== null)
        health.note(key, { ...proof, era: facts?.era ?? null, revision: facts?.revision ?? null });
      if (from.kind === to.kind) return;
      emit({
        type: "connection.changed",
        at: clock.now(),
        key,
        from: from.kind,
        to: to.kind,
        reason: deps.redactor.redact(to.reason),
      });
    });
    return connection;
  };
}

/** A modern server tells of changed lists only who listens; what it tells comes in as `list_changed` of the client. */
function listenToLists(client: Client): void {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  // Where it fails the connection is over, and says so by itself.
  client.listen(lists, () => undefined).catch(() => undefined);
}
