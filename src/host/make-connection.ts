/** A connection of the pool: how it is opened, when it is made anew, who hears of it. */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { ClientEvent } from "../client/events.ts";
import type { Client } from "../client/client.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import type { ResolveSecret } from "../config/secrets.ts";
import { createConnection, type Connection } from "../connection/connection.ts";
import { createStartLine, prospectOf } from "../connection/start-line.ts";
import { nextDelayMs, reconnectBackoff, restartBackoff } from "../resilience/backoff.ts";
import { classifyFailure, originOf } from "../resilience/failure.ts";
import { MAX_HOLD_MS } from "../resilience/hold.ts";
import type { Documents } from "../store/store.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { Redactor } from "../text/redact.ts";
import type { RegisterChild } from "../transport/stdio-options.ts";
import type { ConnectionKey } from "../vocabulary.ts";
import type { Authorizations } from "./authorization.ts";
import type { Catalogs } from "./catalogs.ts";
import { requireServer, type ConnectionGuards } from "./core.ts";
import type { Health } from "./health.ts";
import type { Inputs } from "./inputs.ts";
import { createOpenSession, type HostSession, type SessionDeps } from "./open-session.ts";
import type { Recoveries } from "./recoveries.ts";

export interface ConnectionDeps {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  readonly documents: Documents;
  readonly authorizations: Authorizations;
  readonly registerChild: RegisterChild;
  readonly resolveSecret?: ResolveSecret;
  readonly catalogs: Catalogs;
  readonly health: Health;
  /** The connection that the pool holds for a key: another one, or none, where this one was replaced or taken out. */
  readonly inPlace: (key: ConnectionKey) => Connection<HostSession> | undefined;
  readonly guards: Pick<ConnectionGuards, "breaker">;
  readonly recoveries: Recoveries;
  readonly inputs: Pick<Inputs, "outside" | "completed">;
  readonly emit: (event: HostEvent) => void;
  readonly onFault: (error: unknown) => void;
}

const HEARTBEAT = { silenceMs: 60_000, timeoutMs: 10_000 } as const;

/** @returns the way to make a connection, for the pool. */
export function createMakeConnection(
  deps: ConnectionDeps,
): (key: ConnectionKey, after: Promise<unknown>) => Connection<HostSession> {
  const { clock, random, catalogs, health, emit } = deps;
  const starts = createStartLine(clock, () => deps.config().limits.startAtOnce);

  return (key, after) => {
    const server = requireServer(deps.config(), key.server);
    // What a reload may change without a new start.
    const now = (): ServerConfig => deps.config().servers.get(key.server) ?? server;
    const isStdio = server.launch.kind === "stdio";
    const backoff = isStdio ? restartBackoff : reconnectBackoff;
    const sessionDeps: Omit<SessionDeps, "config"> = {
      ...deps,
      inputs: () => deps.inputs.outside(now()),
      refreshCatalog: (session, client, facts, signal) => catalogs.refresh(session, client, facts, signal),
      onClientEvent: (_key, event, client) => hear(key, event, client),
    };
    const hear = (of: ConnectionKey, event: ClientEvent, client: Client): void => {
      if (event.type === "odd")
        emit({ type: "connection.odd", at: clock.now(), key: of, kind: event.kind, sample: event.sample });
      // One that was replaced and still ends says nothing about the server of now.
      if (event.type === "list_changed" && client.facts !== undefined && deps.inPlace(of) === connection)
        catalogs.changed(of, client, client.facts);
      if (event.type === "elicitation.completed") deps.inputs.completed(of, event.elicitationId);
    };
    let facts: HostSession["facts"] | undefined;
    const connection = createConnection<HostSession>({
      key,
      clock,
      after,
      connectMs: () => now().limits.connectMs,
      idleStopMs: () => now().idleStopMs,
      heartbeat: HEARTBEAT,
      plan: {
        maxRestarts: isStdio ? 3 : 4,
        whenExhausted: isStdio ? "dead" : "idle",
        delayMs: (restart, retryAfterMs) =>
          nextDelayMs(backoff, restart, random, Math.min(retryAfterMs, MAX_HOLD_MS)),
      },
      admit: (signal, failures) => starts.enter(prospectOf(failures, health.last(key)), signal),
      open: async (signal, events) => {
        const open = createOpenSession(key, now(), { ...sessionDeps, config: deps.config() });
        const session = await open(signal, events);
        facts = session.facts;
        return session;
      },
      onFailure: (error) => {
        if (classifyFailure(error).countsForBreaker) deps.guards.breaker(key).fail(originOf(error));
      },
      onProof: (proof) => {
        health.note(key, { ...proof, era: facts?.era ?? null, revision: facts?.revision ?? null });
        if (proof.ok && connection.session !== undefined) deps.recoveries.lives(key);
      },
    });
    connection.onChange(({ from, to }) => {
      if (from.kind === to.kind) return;
      // What became of a replaced one is not what the key is now.
      const inPlace = deps.inPlace(key);
      if (inPlace !== undefined && inPlace !== connection) return;
      emit({
        type: "connection.changed",
        at: clock.now(),
        key,
        from: from.kind,
        to: to.kind,
        reason: deps.redactor.redact(to.reason),
      });
      if (to.kind === "ready") deps.recoveries.lives(key);
    });
    return connection;
  };
}
