/**
 * The MCP client over one transport, both eras: puts the parts of this folder together and holds the one state.
 *
 * Invariants: `connect` once; after the end (ours or the server's) every request fails and nothing arrives any more; what a
 * server says of itself is never trusted, its answers are only matched to what was asked.
 */
import { linkAbort } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import { methods, notifications, type ListKind } from "../protocol/methods.ts";
import type { Era } from "../protocol/revisions.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import type { CloseReport, TransportSink } from "../transport/transport.ts";
import type { ListItems } from "../wire/list.ts";
import { createCalls, type Calls } from "./calls.ts";
import { createList } from "./catalog.ts";
import type { Core } from "./core.ts";
import { createCorrelation } from "./correlation.ts";
import { createExchange } from "./exchange.ts";
import type { ServerFacts } from "./facts.ts";
import { shakeHands } from "./handshake.ts";
import { createInbound } from "./inbound.ts";
import { declareCapabilities } from "./input-handler.ts";
import { createSendLeg, type LegOptions, type SendLeg } from "./leg.ts";
import { createLegacySubscriptions } from "./legacy-subscriptions.ts";
import { compileLimits } from "./limits.ts";
import type { ListOptions, ListOutcome } from "./list.ts";
import { createListenStream } from "./listen-stream.ts";
import { receiveNotification } from "./notifications.ts";
import { createOddities } from "./oddities.ts";
import type { ClientOptions, RequestOptions } from "./options.ts";
import { createRecovery, type Recovery } from "./recovery.ts";
import { mayMeanLostSession, requestError, rpcCodeOf } from "./remote-error.ts";
import { createRequest } from "./request.ts";
import { createServerRequests } from "./server-requests.ts";
import { createSubscriptions, type Subscription, type SubscriptionHandler } from "./subscriptions.ts";
import { createTasks, type Tasks } from "./tasks.ts";

export interface Client extends Calls {
  /**
   * Opens the transport, settles the era and shakes hands. A failed connect has ended everything when it rejects.
   * @throws PortcullisError `incompatible`, `auth_required`, `connect_timeout`, `spawn_failed`, `process_exited` (with
   * `data.startAgainWith = "legacy"` where the server left because of the probe), …; or the signal's reason.
   */
  connect(signal?: AbortSignal): Promise<ServerFacts>;
  /** What the handshake settled; `undefined` before it and after the end. */
  readonly facts: ServerFacts | undefined;
  /**
   * Any request; resolves with its complete result.
   * @throws PortcullisError with `data.wasSent`, `data.provesNoEffect` and, for an answer of the server, `data.rpc`.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  /** A whole list, all pages; empty where the server does not offer the kind. */
  list<Kind extends ListKind>(kind: Kind, options?: ListOptions): Promise<ListOutcome<ListItems[Kind]>>;
  /** Resolves when the server has answered; what it agreed to is in `accepted`, empty where it refused. Never rejects for that. */
  listen(filter: SubscriptionFilter, handler: SubscriptionHandler): Promise<Subscription>;
  /** Tool calls that may go on as tasks. */
  readonly tasks: Tasks;
  /** @returns false where the era has no such notification, so that nothing was sent. */
  notify(method: string, params?: JsonObject): Promise<boolean>;
  /** What was passed over, by kind. */
  oddities(): Readonly<Record<string, number>>;
  /** Ends it; calling it again returns the same promise. Requests in flight fail with `interrupted`. */
  close(): Promise<CloseReport>;
}

type ClientState =
  | { readonly kind: "new" }
  /** `asking` is the era of the message that is out. */
  | { readonly kind: "connecting"; readonly asking: Era }
  | { readonly kind: "ready"; readonly facts: ServerFacts }
  | { readonly kind: "ended"; readonly error: PortcullisError };

export function createClient(options: ClientOptions): Client {
  const { transport, clock } = options;
  const lifetime = new AbortController();
  const correlation = createCorrelation(clock);
  let state: ClientState = { kind: "new" };
  let closing: Promise<CloseReport> | undefined;

  const current = (): ClientState => state;

  const emit: Core["emit"] = (event) => {
    try {
      options.onEvent?.(event);
    } catch {
      // A listener that throws must not end the reading of the stream, and telling it of that would only make it throw again.
    }
  };

  const heard = (): void => {
    try {
      options.onTraffic?.();
    } catch {
      // As above.
    }
  };

  const oddities = createOddities((kind, sample, total) => emit({ type: "odd", kind, sample, total }));
  const baseCapabilities = options.capabilities ?? {};

  const core: Core = {
    transport,
    isHttp: transport.kind === "http",
    clock,
    random: options.random,
    limits: compileLimits(options.limits),
    clientInfo: options.clientInfo,
    capabilities: declareCapabilities(baseCapabilities, options.inputs),
    baseCapabilities,
    inputs: options.inputs,
    correlation,
    exchange: createExchange({ transport, clock, correlation }),
    oddities,
    signal: lifetime.signal,
    headerPlans: new Map(),
    taskProgress: new Map(),
    logLevel: undefined,
    emit,
    authorization: () => recovery.headers,
    facts() {
      if (state.kind === "ready") return state.facts;
      throw notConnected(state.kind === "ended" ? state.error : undefined);
    },
  };

  const end = (error: PortcullisError, isOurs: boolean): void => {
    if (state.kind === "ended") return;
    state = { kind: "ended", error };
    lifetime.abort(error);
    correlation.close(error);
    emit(isOurs ? { type: "closed" } : { type: "closed", error });
  };

  const shake = (hint: Era | undefined, signal: AbortSignal | undefined): Promise<ServerFacts> =>
    shakeHands(core, {
      hint,
      signal,
      headers: () => recovery.headers,
      authorize: (error) => recovery.authorizeHandshake(error),
      onStep(asking) {
        if (state.kind === "connecting") state = { kind: "connecting", asking };
      },
    });

  const renewSession = async (signal: AbortSignal): Promise<void> => {
    try {
      const facts = await shake("legacy", signal);
      if (state.kind !== "ready") throw notConnected(undefined);
      state = { kind: "ready", facts };
      await options.onNewSession?.(
        { facts, list: (kind, listOptions) => list(kind, { ...listOptions, passesGate: true }) },
        signal,
      );
      if (core.logLevel !== undefined)
        void calls.setLogLevel(core.logLevel).catch(() => oddities.note("log.level-refused"));
      emit({ type: "session.renewed", facts });
      void legacySubscriptions.renewed();
    } catch (cause) {
      const error = toPortcullisError(cause, "session_lost");
      end(error, false);
      void transport.close();
      throw error;
    }
  };

  const isSessionAlive = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await sendLeg(methods.ping, undefined, { signal, passesGate: true });
      return true;
    } catch (error) {
      return rpcCodeOf(error) !== undefined && !mayMeanLostSession(toPortcullisError(error));
    }
  };

  const recovery: Recovery = createRecovery({
    signal: lifetime.signal,
    authorize: options.onUnauthorized,
    renewSession,
    isSessionAlive,
  });
  const sendLeg: SendLeg = createSendLeg(core, recovery, async (signal) => {
    await list("tools", signal === undefined ? {} : { signal });
  });
  const run = createRequest(core, sendLeg);

  const request = (
    method: string,
    params?: JsonObject,
    requestOptions: LegOptions = {},
  ): Promise<JsonObject> =>
    run(method, params, requestOptions).then((finished) => {
      if (finished.kind === "complete") return finished.result;
      throw requestError(
        "protocol_error",
        method,
        `\`${method}\` was answered by a task that nobody asked for`,
        { wasSent: true },
      );
    });

  const list = createList(core, request, () => recovery.epoch.session);
  const calls = createCalls(core, request);
  const subscriptions = createSubscriptions(core);
  const listenStream = createListenStream(core, subscriptions, sendLeg);
  const legacySubscriptions = createLegacySubscriptions(core, subscriptions, sendLeg);
  const serverRequests = createServerRequests(core);

  const isLegacy = (): boolean => {
    if (state.kind === "ready") return state.facts.era === "legacy";
    return state.kind === "connecting" && state.asking === "legacy";
  };

  const notificationTargets = {
    subscribed: (id: RequestId, method: string, params: JsonObject) =>
      listenStream.receive(id, method, params),
    changed: (method: string, params: JsonObject) => legacySubscriptions.receive(method, params),
    cancelled(id: RequestId) {
      if (isLegacy()) serverRequests.cancelled(id);
      else if (!listenStream.endedByServer(id))
        oddities.note("cancelled.unknown-request", String(id).slice(0, 80));
    },
  };

  const inbound = createInbound({
    correlation,
    oddities,
    isHttp: core.isHttp,
    targets: {
      request: (message, origin) => serverRequests.receive(message, origin, isLegacy()),
      notification: (message) => receiveNotification(core, notificationTargets, message, isLegacy()),
    },
  });

  const sink: TransportSink = {
    message(message, origin) {
      if (state.kind === "ended") return;
      heard();
      inbound.message(message, origin);
    },
    requestFailed(id, error) {
      if (state.kind !== "ended") inbound.failed(id, error);
    },
    closed(error) {
      end(error ?? new PortcullisError("connection_lost", "the connection ended"), false);
    },
    odd: (oddity) => oddities.note(oddity.kind, oddity.sample, oddity.count ?? 1),
  };

  const connect = async (signal?: AbortSignal): Promise<ServerFacts> => {
    if (state.kind !== "new") throw new PortcullisError("usage", "a client connects once; make a new one");
    state = { kind: "connecting", asking: "modern" };
    const link = linkAbort(signal, lifetime.signal);
    try {
      await transport.open(sink, link.signal);
      const facts = await shake(options.eraHint, signal);
      const now = current();
      if (now.kind === "ended") throw now.error;
      state = { kind: "ready", facts };
      return facts;
    } catch (cause) {
      end(toPortcullisError(cause, "connection_lost"), true);
      await transport.close();
      throw signal?.aborted === true ? signal.reason : toPortcullisError(cause, "connection_lost");
    } finally {
      link.unlink();
    }
  };

  return {
    ...calls,
    connect,
    get facts() {
      return state.kind === "ready" ? state.facts : undefined;
    },
    request,
    list: (kind, listOptions) => list(kind, listOptions),
    listen: (filter, handler) =>
      subscriptions.add(filter, handler, core.facts().era === "modern" ? listenStream : legacySubscriptions),
    tasks: createTasks(core, run),
    async notify(method, params) {
      if (core.facts().era === "modern" && (core.isHttp || method !== notifications.cancelled)) return false;
      await transport.send(
        params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params },
        { headers: recovery.headers },
      );
      return true;
    },
    oddities: () => oddities.counts(),
    close() {
      closing ??= (async () => {
        end(new PortcullisError("interrupted", "the client was closed"), true);
        return transport.close();
      })();
      return closing;
    },
  };
}

function notConnected(cause: PortcullisError | undefined): PortcullisError {
  const message = cause === undefined ? "the client is not connected: call `connect` first" : cause.message;
  return new PortcullisError(cause?.code ?? "connection_lost", message, {
    cause,
    data: { ...cause?.data, wasSent: false, provesNoEffect: true },
  });
}
