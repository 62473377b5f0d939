/**
 * The MCP client over one transport, both eras: wires the parts of this folder together and holds the one state.
 *
 * Invariants: `connect` once; after the end (ours or the server's) every request fails and nothing arrives any more; a
 * server is never trusted, only its answers are matched to what was asked.
 */
import { linkAbort } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { Completion, CompletionParams } from "../protocol/completion.ts";
import { methods, notifications, type ListKind } from "../protocol/methods.ts";
import type { Era } from "../protocol/revisions.ts";
import type { CallToolResult, GetPromptResult, LoggingLevel, ReadResourceResult } from "../protocol/types.ts";
import type { CloseReport, TransportSink } from "../transport/transport.ts";
import { readHeaderPlan } from "../wire/header-plan.ts";
import type { ListItems } from "../wire/list.ts";
import type { Core } from "./core.ts";
import { createCorrelation } from "./correlation.ts";
import { createExchange } from "./exchange.ts";
import type { ServerFacts } from "./facts.ts";
import { shakeHands } from "./handshake.ts";
import { createInbound } from "./inbound.ts";
import { declareCapabilities } from "./inputs.ts";
import { createSendLeg, type LegOptions } from "./leg.ts";
import { compileLimits } from "./limits.ts";
import { emptyList, listAll, offers, type ListOptions, type ListOutcome } from "./list.ts";
import { receiveNotification } from "./notifications.ts";
import { createOddities } from "./oddities.ts";
import type { ClientOptions, RequestOptions } from "./options.ts";
import { createRecovery } from "./recovery.ts";
import { requestError } from "./remote-error.ts";
import { createRequest } from "./request.ts";
import { readCallToolResult, readCompletion, readPromptResult, readResourceResult } from "./results.ts";
import { createServerRequests } from "./server-requests.ts";

export interface Client {
  /**
   * Opens the transport, settles the era and shakes hands. A failed connect has ended everything when it rejects.
   * @throws PortcullisError `incompatible`, `auth_required`, `connect_timeout`, `spawn_failed`, `process_exited` (with
   * `data.startAgainWith = "legacy"` where the server left because of the probe), …; or the signal's reason.
   */
  connect(signal?: AbortSignal): Promise<ServerFacts>;
  /** What the handshake settled; `undefined` before it and after the end. */
  readonly facts: ServerFacts | undefined;
  /** Any request; resolves with its complete result. @throws PortcullisError with `data.wasSent` and `data.provesNoEffect`. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<CallToolResult>;
  /** A whole list, all pages; empty where the server does not offer the kind. */
  list<Kind extends ListKind>(kind: Kind, options?: ListOptions): Promise<ListOutcome<ListItems[Kind]>>;
  readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options?: RequestOptions): Promise<GetPromptResult>;
  complete(params: CompletionParams, options?: RequestOptions): Promise<Completion>;
  /** Legacy: tells the server. Modern: asks for logs on every later request. Does nothing where the server has no logs. */
  setLogLevel(level: LoggingLevel, options?: RequestOptions): Promise<void>;
  /** One question that any living server answers: `ping` or `server/discover`. An error is an answer. @returns milliseconds. */
  heartbeat(signal?: AbortSignal): Promise<number>;
  /** @returns false where the era has no such notification, so that nothing was sent. */
  notify(method: string, params?: JsonObject): Promise<boolean>;
  /** What was passed over, by kind. */
  oddities(): Readonly<Record<string, number>>;
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
  const isHttp = transport.kind === "http";
  const lifetime = new AbortController();
  const correlation = createCorrelation(clock);
  let state: ClientState = { kind: "new" };

  const emit: Core["emit"] = (event) => {
    try {
      options.onEvent?.(event);
    } catch (error) {
      // A listener that throws must not end the reading of the stream; an `odd` event would only reach it again.
      void error;
    }
  };
  const oddities = createOddities((kind, sample, total) => emit({ type: "odd", kind, sample, total }));
  const baseCapabilities = options.capabilities ?? {};

  const core: Core = {
    transport,
    isHttp,
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
    logLevel: undefined,
    emit,
    facts() {
      if (state.kind === "ready") return state.facts;
      if (state.kind === "ended") throw notConnected(state.error);
      throw new PortcullisError("connection_lost", "the client is not connected: call `connect` first", { data: { wasSent: false, provesNoEffect: true } });
    },
  };

  const isLegacy = (): boolean => {
    if (state.kind === "ready") return state.facts.era === "legacy";
    return state.kind === "connecting" && state.asking === "legacy";
  };

  const end = (error: PortcullisError, isOurs: boolean): void => {
    if (state.kind === "ended") return;
    state = { kind: "ended", error };
    lifetime.abort(error);
    correlation.close(error);
    emit(isOurs ? { type: "closed" } : { type: "closed", error });
  };

  const serverRequests = createServerRequests(core);

  const inbound = createInbound({
    correlation,
    oddities,
    isHttp,
    targets: {
      request: (message, origin) => serverRequests.receive(message, origin, isLegacy()),
      notification: (message) =>
        receiveNotification(
          core,
          {
            subscribed: (_id, method) => oddities.note("subscription.foreign-id", method),
            changed: () => undefined,
            cancelled: (id) => serverRequests.cancelled(id),
          },
          message,
          isLegacy(),
        ),
    },
  });

  const sink: TransportSink = {
    message(message, origin) {
      if (state.kind === "ended") return;
      options.onTraffic?.();
      inbound.message(message, origin);
    },
    requestFailed(id, error) {
      if (state.kind !== "ended") inbound.failed(id, error);
    },
    closed(error) {
      end(error ?? new PortcullisError("connection_lost", "the connection ended"), false);
    },
    odd(oddity) {
      oddities.note(oddity.kind, oddity.sample, oddity.count ?? 1);
    },
  };

  const handshake = (signal: AbortSignal, hint: Era | undefined): Promise<ServerFacts> =>
    shakeHands(core, {
      hint,
      signal,
      headers: () => recovery.headers,
      authorize: (error) => recovery.authorize(error, recovery.epoch, signal),
      onStep(asking) {
        if (state.kind === "connecting") state = { kind: "connecting", asking };
      },
    });

  const recovery = createRecovery({
    signal: lifetime.signal,
    authorize: options.onUnauthorized,
    async renewSession(signal) {
      try {
        const facts = await handshake(signal, "legacy");
        if (state.kind !== "ready") throw core.facts();
        state = { kind: "ready", facts };
        await options.onNewSession?.({ facts, list: (kind, listOptions) => list(kind, { ...listOptions }, true) }, signal);
        emit({ type: "session.renewed", facts });
      } catch (cause) {
        const error = toPortcullisError(cause, "session_lost");
        end(error, false);
        void transport.close();
        throw error;
      }
    },
  });

  const sendLeg = createSendLeg(core, recovery, async (signal) => void (await list("tools", signal === undefined ? {} : { signal })));
  const run = createRequest(core, sendLeg);

  const request = async (method: string, params: JsonObject | undefined, requestOptions: LegOptions = {}): Promise<JsonObject> => {
    const finished = await run(method, params, requestOptions);
    if (finished.kind === "complete") return finished.result;
    throw requestError("protocol_error", method, `\`${method}\` was answered by a task that nobody asked for`, { wasSent: true });
  };

  async function list<Kind extends ListKind>(
    kind: Kind,
    listOptions: ListOptions = {},
    passesGate = false,
  ): Promise<ListOutcome<ListItems[Kind]>> {
    const facts = core.facts();
    if (facts.areCapabilitiesKnown && !offers(facts.capabilities, kind)) return emptyList();
    try {
      const outcome = await listAll(kind, (method, params) => request(method, params, { ...listOptions, passesGate }), core.limits);
      return kind === "tools" && isHttp && facts.era === "modern" ? (planHeaders(outcome as ListOutcome<ListItems["tools"]>) as ListOutcome<ListItems[Kind]>) : outcome;
    } catch (error) {
      // Many servers have resources but no templates, or declare more than they have.
      if (error instanceof PortcullisError && (error.data["rpc"] as { code?: number } | undefined)?.code === rpcCodes.methodNotFound) return emptyList();
      throw error;
    }
  }

  /** Reads the header annotations of every tool; a tool with an invalid one is left out, as the specification asks (HTTP only). */
  const planHeaders = (outcome: ListOutcome<ListItems["tools"]>): ListOutcome<ListItems["tools"]> => {
    core.headerPlans.clear();
    const findings = [...outcome.findings];
    const items = outcome.items.filter((tool) => {
      const verdict = readHeaderPlan(tool.inputSchema);
      if (verdict.ok) {
        if (verdict.plan.length > 0) core.headerPlans.set(tool.name, verdict.plan);
        return true;
      }
      const name = JSON.stringify(tool.name.slice(0, 80));
      findings.push({ rule: "catalog.bad-header", severity: "low", where: `tools/${name}${verdict.where}`, message: `the tool was left out: ${verdict.reason}` });
      oddities.note("catalog.bad-header", `${name}: ${verdict.reason}`);
      return false;
    });
    return { ...outcome, items, findings };
  };

  let closing: Promise<CloseReport> | undefined;
  const close = (): Promise<CloseReport> => {
    closing ??= (async () => {
      end(new PortcullisError("interrupted", "the client was closed"), true);
      return transport.close();
    })();
    return closing;
  };

  return {
    async connect(signal) {
      if (state.kind !== "new") throw new PortcullisError("usage", "a client connects once; make a new one");
      state = { kind: "connecting", asking: "modern" };
      const link = linkAbort(signal, lifetime.signal);
      try {
        await transport.open(sink, link.signal);
        const facts = await handshake(link.signal, options.eraHint);
        switch (state.kind as ClientState["kind"]) {
          case "connecting":
            state = { kind: "ready", facts };
            return facts;
          case "ended":
          case "new":
          case "ready":
            return core.facts() && facts;
          default:
            return assertNever(state as never);
        }
      } catch (cause) {
        const error = toPortcullisError(signal?.aborted === true ? signal.reason : cause, "connection_lost");
        end(error, true);
        await transport.close();
        throw signal?.aborted === true ? (signal.reason as Error) : error;
      } finally {
        link.unlink();
      }
    },
    get facts() {
      return state.kind === "ready" ? state.facts : undefined;
    },
    request,
    async callTool(name, args, requestOptions) {
      const result = await request(methods.callTool, { name, arguments: args }, requestOptions);
      return readCallToolResult(result);
    },
    list: (kind, listOptions) => list(kind, listOptions),
    async readResource(uri, requestOptions) {
      return readResourceResult(await request(methods.readResource, { uri }, requestOptions));
    },
    async getPrompt(name, args, requestOptions) {
      return readPromptResult(await request(methods.getPrompt, { name, arguments: { ...args } }, requestOptions));
    },
    async complete(params, requestOptions) {
      const facts = core.facts();
      if (facts.areCapabilitiesKnown && facts.capabilities.completions === undefined) return { values: [] };
      return readCompletion(await request(methods.complete, params as unknown as JsonObject, requestOptions));
    },
    async setLogLevel(level, requestOptions) {
      const facts = core.facts();
      if (facts.areCapabilitiesKnown && facts.capabilities.logging === undefined) return;
      core.logLevel = level;
      if (facts.era === "legacy") await request(methods.setLogLevel, { level }, requestOptions);
    },
    async heartbeat(signal) {
      const method = core.facts().era === "legacy" ? methods.ping : methods.discover;
      const startedMs = clock.monotonic();
      try {
        await sendLeg(method, undefined, { ...(signal === undefined ? {} : { signal }) });
      } catch (error) {
        if (!(error instanceof PortcullisError) || error.data["rpc"] === undefined) throw error;
      }
      return clock.monotonic() - startedMs;
    },
    async notify(method, params) {
      if (core.facts().era === "modern" && (isHttp || method !== notifications.cancelled)) return false;
      await transport.send(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }, { headers: recovery.headers });
      return true;
    },
    oddities: () => oddities.counts(),
    close,
  };
}

function notConnected(error: PortcullisError): PortcullisError {
  return new PortcullisError(error.code, error.message, { cause: error, data: { ...error.data, wasSent: false, provesNoEffect: true } });
}
