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
import type { OpenSession, Session, SessionEvents } from "../connection/session.ts";
import { PortcullisError } from "../errors.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Documents } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";
import { authExtensionsOf } from "./auth-settings.ts";
import type { Authorizations } from "./authorization.ts";
import { refuseIdle } from "./idle.ts";
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
  readonly authorizations: Pick<Authorizations, "forSession">;
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

/**
 * The way to a session of `key`, for its connection. What is remembered of the era is a hint: where a handshake fails on it, it is
 * forgotten, and the next start asks anew.
 */
export function createOpenSession(
  key: ConnectionKey,
  server: ServerConfig,
  deps: SessionDeps,
): OpenSession<HostSession> {
  return async (signal, events) => {
    // Paused is what connections themselves know.
    refuseIdle(server, { isPaused: () => false });
    const hint = await readEraHint(key, deps);
    await events.mayStart();
    const attempt: Attempt = { key, server, deps, events, signal, isShaken: false };
    try {
      return await start(attempt, hint);
    } catch (error) {
      if (!attempt.isShaken && hint !== undefined) await forgetEra(key, deps);
      if (!(error instanceof PortcullisError) || signal.aborted) throw error;
      // The server left because of the probe, or what was remembered of it is no longer true.
      const isShy = error.data["startAgainWith"] === "legacy";
      if (!isShy && (hint === undefined || error.code !== "incompatible")) throw error;
      if (!(await events.mayStart())) throw error;
      return start(attempt, isShy ? "legacy" : undefined);
    }
  };
}

interface Attempt {
  readonly key: ConnectionKey;
  readonly server: ServerConfig;
  readonly deps: SessionDeps;
  readonly events: SessionEvents;
  readonly signal: AbortSignal;
  /** The handshake was done: what fails afterwards says nothing about the era. */
  isShaken: boolean;
}

async function start(attempt: Attempt, eraHint: Era | undefined): Promise<HostSession> {
  const { key, server, deps, events, signal } = attempt;
  const authorization = deps.authorizations.forSession(key, server, events.unauthorized);
  const transport = await makeTransport(server, deps, authorization.wrapPort, signal);
  const extensions = Object.fromEntries(authExtensionsOf(server).map((name) => [name, {}]));
  const inputs = deps.inputs(key);
  let isReady = false;
  let lost: PortcullisError | undefined;
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
      if (event.type === "closed" && event.error !== undefined) {
        // Before it is ready a loss is the failure of the start itself.
        if (isReady) events.lost(event.error);
        else lost = event.error;
      }
      deps.onClientEvent(key, event, client);
    },
    capabilities: Object.keys(extensions).length === 0 ? {} : { extensions },
    onUnauthorized: authorization.onUnauthorized,
    onNewSession: async (session, newSignal) => deps.refreshCatalog(key, session, session.facts, newSignal),
  });
  try {
    const facts = await client.connect(signal);
    attempt.isShaken = true;
    // Before the lists are read, so that no change falls in between.
    if (facts.era === "modern") listenToLists(client);
    await deps.refreshCatalog(key, client, facts, signal);
    if (facts.verdictIsCertain) await rememberEra(key, facts.era, deps);
    if (lost !== undefined) throw lost;
    isReady = true;
    return { client, facts, heartbeat: (beat) => client.heartbeat(beat), close: () => client.close() };
  } catch (error) {
    await client.close();
    throw isUnsent(error) && lost !== undefined ? lost : error;
  }
}

/** It says only that the connection was over, not why. */
function isUnsent(error: unknown): boolean {
  return (
    error instanceof PortcullisError && error.code === "connection_lost" && error.data["wasSent"] === false
  );
}

/** A modern server tells of changed lists only who listens; what it tells comes in as `list_changed` of the client. */
function listenToLists(client: Client): void {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  // Where it fails the connection is over, and says so by itself.
  client.listen(lists, () => undefined).catch(() => undefined);
}

async function readEraHint(key: ConnectionKey, { documents }: SessionDeps): Promise<Era | undefined> {
  const stored = await documents.get("eras", connectionId(key));
  const era = isJsonObject(stored?.value) ? stored.value["era"] : undefined;
  return era === "modern" || era === "legacy" ? era : undefined;
}

async function forgetEra(key: ConnectionKey, { documents }: SessionDeps): Promise<void> {
  await documents.delete("eras", connectionId(key));
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
