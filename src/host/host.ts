/**
 * The composition root: the only place that knows every module. It opens them in order, connects them, and closes them in
 * reverse; it decides nothing about calls.
 */
import { AUDIT_BATCH_MS, createAudit } from "../audit/trail.ts";
import { startUpkeep } from "../audit/upkeep.ts";
import { openVault } from "../auth/vault.ts";
import { createBroker } from "../approvals/broker.ts";
import { createGrants } from "../approvals/grants.ts";
import { linkAbort } from "../base/abort.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { createLifetime } from "../base/lifetime.ts";
import { onProcessExit } from "../base/process-exit.ts";
import { createRoster } from "../base/roster.ts";
import { systemRandom, type Random } from "../base/random.ts";
import { createPool } from "../connection/pool.ts";
import { PortcullisError } from "../errors.ts";
import { createPinBook } from "../registry/pin-book.ts";
import { createRegistry } from "../registry/registry.ts";
import { createSchemas } from "../registry/schemas.ts";
import { createChannels } from "../results/channels.ts";
import { createLastGood } from "../results/last-good.ts";
import { createRests } from "../results/rests.ts";
import type { HostEvent } from "../telemetry/events.ts";
import { cleanForPerson } from "../text/clean.ts";
import { createRedactor } from "../text/redact.ts";
import { createChildRegister, reapLeftovers } from "../transport/reaper.ts";
import type { Host, HostOptions } from "./api.ts";
import { createAuthorizations } from "./authorization.ts";
import { answerByCallback } from "./callback-approvals.ts";
import { checkHostOptions } from "./check-given.ts";
import { createCatalogs } from "./catalogs.ts";
import { closeHost } from "./close.ts";
import { createConnectionGuards } from "./connection-guards.ts";
import { createConversations } from "./conversation.ts";
import type { Core } from "./core.ts";
import { createEventHub } from "./event-hub.ts";
import { createFace } from "./face.ts";
import { createHealth } from "./health.ts";
import { createInputs } from "./inputs.ts";
import { learnSecrets } from "./known-secrets.ts";
import { loadGiven } from "./load.ts";
import { createMakeConnection } from "./make-connection.ts";
import { lateResolverOf } from "./make-transport.ts";
import { createNotifier } from "./notify.ts";
import type { HostSession } from "./open-session.ts";
import { openStore, requireSharedVault } from "./open-store.ts";
import { createPauses } from "./pauses.ts";
import { createRecoveries } from "./recoveries.ts";
import { createUndos } from "./undos.ts";

/** Time and randomness, for tests. */
export interface HostSeams {
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Opens a host: reads the configuration, opens the state, puts back what was known. Starts no server but those that are
 * configured to be connected eagerly. Whoever opens it closes it.
 *
 * @throws PortcullisError `config_not_found`, `config_invalid`, `config_not_yet`, `state_unusable`, `state_newer`.
 */
export async function openHost(options: HostOptions, seams: HostSeams = {}): Promise<Host> {
  const { clock = systemClock, random = systemRandom } = seams;
  checkHostOptions(options);
  let config = await loadGiven(options.config, options.stateDir);
  const lifetime = createLifetime(`host ${config.stateDir}`);
  try {
    const draining = new AbortController();
    const cutting = linkAbort();
    lifetime.onClose(() => cutting.abort(new PortcullisError("interrupted", "the host is closed")));
    const events = createEventHub();
    if (options.onEvent !== undefined) events.on(options.onEvent);
    const emit = (event: HostEvent): void => events.emit(event);
    // Faults of background work have no caller; they must not end the process either.
    const onFault = (error: unknown): void => {
      emit({ type: "host.fault", at: clock.now(), message: redactor.redact(String(error)).slice(0, 500) });
    };
    const resolveSecret = options.resolveSecret === undefined ? {} : { resolveSecret: options.resolveSecret };
    const redactor = createRedactor();
    await learnSecrets(config, redactor);
    const store = lifetime.own(
      await openStore(config, {
        role: options.role ?? "library",
        batchMs: AUDIT_BATCH_MS,
        clock,
        random,
        onFault,
        resolver: () => lateResolverOf(null, { config, clock, ...resolveSecret }),
        onSecrets: (secrets) => redactor.add("store", secrets),
      }),
    );
    const vault = openVault({ dir: config.stateDir, random });
    await requireSharedVault(store, vault, config);
    const sealer = {
      seal: (plain: string, purpose: string): string => vault.seal(plain, purpose),
      open: (sealed: string, purpose: string): string | undefined => {
        try {
          return vault.open(sealed, purpose);
        } catch {
          return undefined;
        }
      },
    };
    const guards = createConnectionGuards(store, clock, () => config, onFault);
    const health = createHealth(store, onFault);
    const pins = createPinBook(store.documents);
    const pauses = createPauses(store, (server, change) => {
      for (const connection of core.pool.list()) {
        if (server !== null && connection.key.server !== server) continue;
        if (change === "paused") connection.pause();
        else connection.resume();
      }
    });
    const registry = createRegistry({
      keyOf: (name, principal) => {
        const server = config.servers.get(name);
        return server === undefined ? undefined : inputs.keyOf(server, principal);
      },
      servers: () => config.servers.keys(),
      pinStatus: (server, tool, pin) => pins.status(server, tool, pin),
    });
    const catalogs = createCatalogs({
      registry,
      pins,
      documents: store.documents,
      sealer,
      clock,
      emit,
      server: (name) => config.servers.get(name),
      redact: (text) => redactor.redactLongValues(text),
    });
    const audit = createAudit({
      records: store.records,
      clock,
      redact: (value: JsonValue) => redactor.redactJson(value),
      onFault,
    });
    const { onInput, sampling, roots, callersAnswer = false } = options;
    const inputs = createInputs({
      own:
        onInput === undefined
          ? undefined
          : {
              ask: onInput,
              ...(sampling === undefined ? {} : { sampling }),
              ...(roots === undefined ? {} : { roots }),
            },
      callersAnswer,
      clock,
      eraOf: (key) => health.last(key)?.era ?? null,
      emit,
      record: (kind, body) => audit.note(kind, redactor.redactJson(body) as JsonObject),
    });
    // A process that ends without closing: what the audit holds goes to the store before the store writes its last batch.
    lifetime.onClose(onProcessExit(audit.release));
    const grants = createGrants({
      documents: store.documents,
      clock,
      random,
      seal: vault,
      isOn: () => config.approvals.grants === "on",
      onChange: ({ kind, grant, by }) => {
        const { id, principal, server, tool, scope } = grant;
        audit.note(`grant.${kind}`, { id, principal, server, tool, scope, by }).catch(onFault);
      },
    });
    const broker = createBroker({
      store,
      clock,
      random,
      seal: vault,
      makeVisible: cleanForPerson,
      timeoutMs: () => config.approvals.timeoutMs,
      // What is off is never asked about.
      channels: (grade) => (grade === "off" ? [] : config.approvals.channelsByGrade[grade]),
      grants,
      emit: (event) => {
        emit(event);
        // Whoever answers may be another process than the one that waits: this is its own record of it.
        if (event.type !== "approval.answered" || event.by === null) return;
        const { approvalId, answer, by, channel } = event;
        audit.note("approval.answered", { approvalId, answer, by, channel }).catch(onFault);
      },
    });
    const recoveries = createRecoveries({ clock, emit, takesCalls: guards.takesCalls });
    const lastGood = createLastGood({ documents: store.documents, clock, sealer });
    const authorizations = createAuthorizations({
      config: () => config,
      clock,
      documents: store.documents,
      leases: store.leases,
      vault,
      redactor,
      signal: lifetime.signal,
      isPaused: (server) => pauses.isPaused(server),
      ...resolveSecret,
    });
    lifetime.own(authorizations);
    const makeConnection = createMakeConnection({
      config: () => config,
      clock,
      random,
      redactor,
      documents: store.documents,
      authorizations,
      registerChild: createChildRegister(store.documents, store.instances.self.id, clock),
      catalogs,
      health,
      inPlace: (key) => core.pool.find(key),
      guards,
      recoveries,
      inputs,
      emit,
      onFault,
      ...resolveSecret,
    });
    const core: Core = {
      config: () => config,
      clock,
      random,
      store,
      registry,
      schemas: createSchemas(),
      pool: createPool<HostSession>(makeConnection, clock),
      guards,
      audit,
      broker,
      channels: createChannels({ random, redact: (text) => redactor.redactValues(text) }),
      redactor,
      pauses,
      lists: {
        used(key) {
          const session = core.pool.find(key)?.session;
          if (session !== undefined) catalogs.used(key, session.client, session.facts);
        },
        settle: (key, signal) => catalogs.settle(key, signal),
      },
      recoveries,
      lastGood,
      grants,
      undos: createUndos({ documents: store.documents, clock, sealer }),
      inputs,
      rests: createRests({ documents: store.documents, clock, sealer }),
      emit,
      hearsCalls: events.hearsCalls,
      traceOf: events.traceOf,
      running: createRoster(),
      draining: draining.signal,
      signal: cutting.signal,
    };
    const notifier = createNotifier({
      config: () => config,
      clock,
      redactor,
      resolver: () => lateResolverOf(null, { config, clock, ...resolveSecret }),
      onFault,
    });
    lifetime.own(notifier);
    lifetime.onClose(events.on((event) => notifier.hear(event), { calls: false }));
    if (options.onApproval !== undefined) {
      const answer = answerByCallback(broker, options.onApproval, lifetime.signal, onFault);
      lifetime.onClose(events.on(answer, { calls: false }));
    }
    for (const [collection, load] of [
      ["paused", () => pauses.load()],
      ["pins", () => pins.load()],
      ["breakers", () => guards.load()],
    ] as const) {
      await load();
      lifetime.onClose(store.watch(collection, () => void load().catch(onFault)));
    }
    lifetime.onClose(
      store.watch("tokens", () => void authorizations.tokensChanged(core.pool.list()).catch(onFault)),
    );
    await health.load();
    await catalogs.restore();
    await reapChildren(core);
    lifetime.own(
      startUpkeep({
        store,
        clock,
        retentionMs: () => config.audit.retentionMs,
        onRecovered: () => undefined,
        onFault,
      }),
    );
    emit({ type: "host.opened", at: clock.now(), servers: [...config.servers.keys()] });
    const face = createFace({
      core,
      pins,
      catalogs,
      health,
      pauses,
      authorizations,
      conversations: createConversations(random.bytes(32)),
      onEvent: events.on,
      setConfig: (next) => {
        config = next;
      },
      learnSecrets: (next) => learnSecrets(next, redactor),
      close: (deadlineMs) => closeHost({ core, draining, cutting, catalogs, lifetime, deadlineMs }),
    });
    face.connectEagerly();
    return face;
  } catch (error) {
    await lifetime.close().catch(() => undefined);
    throw error;
  }
}

/** Ends what a killed host left behind; never a child of a living one. */
async function reapChildren({ store, clock }: Core): Promise<void> {
  const all = await store.instances.list();
  const dead = new Set((await store.instances.listDead()).map(({ id }) => id));
  const living = new Set(all.map(({ id }) => id).filter((id) => !dead.has(id)));
  await reapLeftovers({ documents: store.documents, clock, isInstanceAlive: (id) => living.has(id) });
}
