/**
 * Makes one connection ready for calls: transport, handshake, lists compared with the pins. A server that leaves because of
 * the era probe is started a second time without it; the era is remembered, unless it was settled by a time-out.
 */
import type { Clock } from "../base/clock.ts";
import { isJsonObject } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import { createClient, type Client } from "../client/client.ts";
import type { ClientEvent } from "../client/events.ts";
import type { ServerFacts } from "../client/facts.ts";
import type { InputHandler } from "../client/inputs.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { OpenSession, Session, SessionEvents } from "../connection/connection.ts";
import { PortcullisError } from "../errors.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Documents } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";
import { makeTransport, type TransportDeps } from "./make-transport.ts";

/** What a connection of the host gives to a call. */
export interface HostSession extends Session {
  readonly client: Client;
  readonly facts: ServerFacts;
}

export interface SessionDeps extends TransportDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly documents: Documents;
  readonly inputs: (key: ConnectionKey) => InputHandler | undefined;
  /** Lists again and compares the pins; awaited before the first call of a session. */
  readonly refreshCatalog: (
    key: ConnectionKey,
    client: Pick<Client, "list">,
    facts: ServerFacts,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly onClientEvent: (key: ConnectionKey, event: ClientEvent, client: Client) => void;
}

/** A verdict `legacy` never fails by itself, so it is asked again after a week. */
const LEGACY_VERDICT_MS = 7 * 24 * 60 * 60 * 1_000;

/** The way to a session of `key`, for its connection. */
export function createOpenSession(
  key: ConnectionKey,
  server: ServerConfig,
  deps: SessionDeps,
): OpenSession<HostSession> {
  return async (signal, events) => {
    if (server.blocked !== null) {
      throw new PortcullisError(
        "server_blocked",
        `\`${server.name}\` is blocked: ${server.blocked.reason}; ${server.blocked.fix}`,
      );
    }
    const hint = await readEraHint(key, deps);
    try {
      return await start(key, server, deps, events, hint, signal);
    } catch (error) {
      if (!(error instanceof PortcullisError) || signal.aborted) throw error;
      // The server left because of the probe, or what was remembered of it is no longer true.
      if (error.data["startAgainWith"] === "legacy")
        return await start(key, server, deps, events, "legacy", signal);
      if (hint !== undefined && error.code === "incompatible")
        return await start(key, server, deps, events, undefined, signal);
      throw error;
    }
  };
}

async function start(
  key: ConnectionKey,
  server: ServerConfig,
  deps: SessionDeps,
  events: SessionEvents,
  eraHint: Era | undefined,
  signal: AbortSignal,
): Promise<HostSession> {
  const transport = await makeTransport(server, deps, signal);
  const inputs = deps.inputs(key);
  let isReady = false;
  const client = createClient({
    transport,
    clock: deps.clock,
    random: deps.random,
    clientInfo: { name: "portcullis", title: "Portcullis", version: VERSION },
    limits: {
      idleTimeoutMs: server.limits.timeoutMs,
      totalTimeoutMs: server.limits.totalMs,
      handshakeMs: server.limits.connectMs,
    },
    ...(inputs === undefined ? {} : { inputs }),
    ...(eraHint === undefined ? {} : { eraHint }),
    onTraffic: events.alive,
    onEvent: (event) => {
      // Before it is ready a loss is the failure of `open` itself.
      if (event.type === "closed" && event.error !== undefined && isReady) events.lost(event.error);
      deps.onClientEvent(key, event, client);
    },
    onUnauthorized: async (error) => {
      events.unauthorized(error);
      return undefined;
    },
    onNewSession: async (session, newSignal) => deps.refreshCatalog(key, session, session.facts, newSignal),
  });
  try {
    const facts = await client.connect(signal);
    await deps.refreshCatalog(key, client, facts, signal);
    if (facts.verdictIsCertain) await rememberEra(key, facts.era, deps);
    isReady = true;
    return { client, facts, heartbeat: (beat) => client.heartbeat(beat), close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function readEraHint(key: ConnectionKey, { documents }: SessionDeps): Promise<Era | undefined> {
  const stored = await documents.get("eras", connectionId(key));
  const era = isJsonObject(stored?.value) ? stored.value["era"] : undefined;
  return era === "modern" || era === "legacy" ? era : undefined;
}

async function rememberEra(key: ConnectionKey, era: Era, { documents, clock }: SessionDeps): Promise<void> {
  await documents.put(
    "eras",
    connectionId(key),
    { era, at: clock.now() },
    {
      durable: false,
      ...(era === "legacy" ? { expiresAt: clock.now() + LEGACY_VERDICT_MS } : {}),
    },
  );
}
