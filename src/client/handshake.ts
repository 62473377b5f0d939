/**
 * The era probe and the handshake on one open transport: drives the tables of `wire/era.ts`.
 *
 * Invariants: the probe and `initialize` go to the same process; nothing is sent twice unless a verdict says so, and each
 * kind of correction at most once; neither is ever cancelled on the wire; a late answer to the probe counts only where
 * `initialize` was refused. Source: transports/stdio#backward-compatibility, 2025-11-25 basic/lifecycle.
 */
import { linkAbort, throwIfAborted, untilAborted } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { JsonObject } from "../base/json.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { DiscoverResult, InitializeResult } from "../protocol/handshake.ts";
import { methods, notifications } from "../protocol/methods.ts";
import { LATEST_LEGACY, LATEST_MODERN, LEGACY_REVISIONS, MODERN_REVISIONS, type Era, type LegacyRevision, type ModernRevision } from "../protocol/revisions.ts";
import { oneLine } from "../text/clean.ts";
import { classifyInitialize, classifyProbe, type HandshakeAnswer, type InitializeContext } from "../wire/era.ts";
import { requestHeaders } from "../wire/headers.ts";
import { initializeParams, readInitializeResult } from "../wire/legacy.ts";
import { readServerInfo } from "../wire/meta.ts";
import { envelopeMeta, readDiscoverResult, readVersions } from "../wire/modern.ts";
import type { Core } from "./core.ts";
import type { ExchangeEnd, LateAnswer } from "./correlation.ts";
import type { ServerFacts } from "./facts.ts";
import { fromRpcError, requestError } from "./remote-error.ts";

export interface HandshakeOptions {
  readonly hint: Era | undefined;
  /** Headers for authorization, and a chance to get (other) ones: true where it is worth asking again. */
  headers(): Readonly<Record<string, string>>;
  authorize(error: PortcullisError): Promise<boolean>;
  /** Which era the next message speaks. */
  onStep(era: Era): void;
  /** The caller's. The end of the transport is an answer, not an abort. */
  readonly signal: AbortSignal | undefined;
}

/** Steps in all, whatever the verdicts say: the longest honest path has six. */
const MAX_STEPS = 8;

type Step =
  | { readonly kind: "probe"; readonly revision: ModernRevision; readonly isSecond: boolean }
  | { readonly kind: "initialize"; readonly context: InitializeContext; readonly isCertain: boolean };

/**
 * Settles the era and says so to the transport.
 *
 * @throws PortcullisError `incompatible` with `data.serverVersions` and `data.clientVersions`; `auth_required`;
 * `connect_timeout`; `process_exited` with `data.startAgainWith = "legacy"` where the server left because of the probe; or
 * what the transport reported.
 */
export async function shakeHands(core: Core, options: HandshakeOptions): Promise<ServerFacts> {
  const channel = core.isHttp || core.transport.kind === "sse" ? "http" : "stream";
  const late = createLateProbe();
  let hasProbed = false;
  let mayAuthorize = true;

  const probe = (revision: ModernRevision, isSecond = false): Step => ({ kind: "probe", revision, isSecond });
  const initialize = (revision: LegacyRevision, more: Partial<InitializeContext> = {}, isCertain = true): Step => ({
    kind: "initialize",
    context: { channel, offered: revision, isSecond: false, doubt: "none", ...more },
    isCertain,
  });

  const authorize = (error: PortcullisError): Promise<boolean> =>
    untilAborted(untilAborted(options.authorize(error), options.signal), core.signal);

  const startsLegacy = options.hint === "legacy" || core.transport.kind === "sse";
  let step: Step = startsLegacy ? initialize(LATEST_LEGACY) : probe(LATEST_MODERN);

  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    throwIfAborted(options.signal);
    options.onStep(step.kind === "probe" ? "modern" : "legacy");
    if (step.kind === "probe") {
      hasProbed = true;
      const end: ExchangeEnd = await ask(core, options, step, late.onLate);
      throwIfAborted(options.signal);
      const answer = readAnswer(methods.discover, end, channel === "http");
      const verdict = classifyProbe(answer, { channel, asked: step.revision, isSecond: step.isSecond });
      switch (verdict.kind) {
        case "modern":
          return settleModern(core, verdict.revision, end.kind === "result" ? end.result : undefined);
        case "ask-again":
          core.oddities.note(`era.ask-again-${verdict.why}`);
          step = probe(verdict.revision, true);
          continue;
        case "legacy":
          if (verdict.needsFreshStart) throw leftBecauseOfProbe(end);
          step = initialize(verdict.revision, { doubt: verdict.doubt }, verdict.isCertain);
          continue;
        case "incompatible":
          throw incompatible(verdict.serverVersions, methods.discover, end);
        case "auth": {
          const error = failure(methods.discover, end);
          if (!mayAuthorize || !(await authorize(error))) throw error;
          mayAuthorize = false;
          continue;
        }
        case "error":
          throw failure(methods.discover, end);
        default:
          assertNever(verdict);
      }
    }
    const { context, isCertain } = step;
    const end: ExchangeEnd = await ask(core, options, step, undefined);
    throwIfAborted(options.signal);
    const answer = readAnswer(methods.initialize, end, channel === "http");
    if (context.doubt === "late-discover" && answer.kind !== "agreed") await late.arrival(core, options.signal);
    const lateVersions = late.discovered()?.supportedVersions;
    const verdict = classifyInitialize(answer, { ...context, ...(lateVersions === undefined ? {} : { lateVersions }) });
    switch (verdict.kind) {
      case "legacy":
        return settleLegacy(core, verdict.revision, end, isCertain, options.headers());
      case "modern":
        return settleModern(core, verdict.revision, late.result());
      case "ask-again":
        core.oddities.note("era.ask-again-version");
        step = initialize(verdict.revision, { ...context, isSecond: true, offered: verdict.revision }, isCertain);
        continue;
      case "probe":
        if (hasProbed) throw failure(methods.initialize, end, "incompatible");
        step = probe(LATEST_MODERN);
        continue;
      case "incompatible":
        throw incompatible(verdict.serverVersions, methods.initialize, end, verdict.maybeHttpSse);
      case "auth": {
        const error = failure(methods.initialize, end);
        if (!mayAuthorize || !(await authorize(error))) throw error;
        mayAuthorize = false;
        continue;
      }
      case "error":
        throw failure(methods.initialize, end);
      default:
        assertNever(verdict);
    }
  }
  throw new PortcullisError("incompatible", "the server changes its mind about its protocol version again and again");
}

/** Sends one message of the handshake. */
function ask(core: Core, options: HandshakeOptions, step: Step, onLate: ((answer: LateAnswer) => void) | undefined): Promise<ExchangeEnd> {
  const { limits } = core;
  const id = core.correlation.nextId();
  const common = { id, totalLeftMs: Infinity, totalTimeoutMs: Infinity, isHandshake: true, signal: options.signal, onLate };
  if (step.kind === "initialize") {
    const { offered } = step.context;
    const params = initializeParams({ revision: offered, capabilities: core.capabilities, clientInfo: core.clientInfo });
    return core.exchange({ ...common, method: methods.initialize, params, era: "legacy", headers: options.headers(), idleTimeoutMs: limits.handshakeMs });
  }
  const envelope = { revision: step.revision, capabilities: core.capabilities, clientInfo: core.clientInfo };
  const params: JsonObject = { _meta: envelopeMeta(envelope) };
  const headers = core.isHttp ? { ...requestHeaders(step.revision, methods.discover, params, undefined), ...options.headers() } : undefined;
  const isPatient = core.isHttp || options.hint === "modern";
  return core.exchange({
    ...common,
    method: methods.discover,
    params,
    era: "modern",
    headers,
    idleTimeoutMs: isPatient ? limits.handshakeMs : limits.probeMs,
  });
}

/** What an exchange says for the tables. */
function readAnswer(method: string, end: ExchangeEnd, isHttp: boolean): HandshakeAnswer {
  switch (end.kind) {
    case "result": {
      const { httpStatus } = end.origin;
      if (method === methods.discover) {
        const discovered = readDiscoverResult(end.result);
        if (discovered !== undefined) return { kind: "discovered", versions: discovered.supportedVersions };
        return { kind: "unreadable", ...optionalStatus(httpStatus) };
      }
      const read = readInitializeResult(end.result);
      return read.kind === "agreed" ? { kind: "agreed", revision: read.revision } : read;
    }
    case "rpc-error": {
      const data = end.error.data;
      const supported = isJsonObject(data) ? readVersions(ownProperty(data, "supported")) : undefined;
      return {
        kind: "rpc-error",
        code: end.error.code,
        ...(supported === undefined ? {} : { supported }),
        ...optionalStatus(end.origin.httpStatus),
      };
    }
    case "broken":
      return readBroken(end.error, isHttp);
  }
}

function readBroken(error: PortcullisError, isHttp: boolean): HandshakeAnswer {
  const status = typeof error.data["status"] === "number" ? error.data["status"] : undefined;
  switch (error.code) {
    case "timed_out":
      return { kind: "timed-out" };
    case "auth_required":
    case "auth_failed":
      return { kind: "unreadable", status: status ?? 401 };
    case "session_lost":
      return { kind: "unreadable", status: status ?? 404 };
    case "http_error":
      return status === undefined ? { kind: "failed" } : { kind: "unreadable", status };
    case "protocol_error":
    case "remote_error":
      return { kind: "unreadable", ...optionalStatus(status) };
    case "connection_lost":
    case "process_exited":
      return isHttp ? { kind: "failed" } : { kind: "closed" };
    default:
      return { kind: "failed" };
  }
}

function optionalStatus(status: number | undefined): { readonly status?: number } {
  return status === undefined ? {} : { status };
}

/** Keeps the answer to a probe whose time was over. */
function createLateProbe(): {
  onLate(answer: LateAnswer): void;
  discovered(): DiscoverResult | undefined;
  result(): JsonObject | undefined;
  arrival(core: Core, signal: AbortSignal | undefined): Promise<void>;
} {
  let answer: LateAnswer | undefined;
  let wake: () => void = () => undefined;
  return {
    onLate(late) {
      answer = late;
      wake();
    },
    discovered: () => (answer?.kind === "result" ? readDiscoverResult(answer.result) : undefined),
    result: () => (answer?.kind === "result" ? answer.result : undefined),
    /** Waits a little for it: a slow server answers in the order in which it was asked. */
    async arrival(core, signal) {
      if (answer !== undefined) return;
      const link = linkAbort(signal, core.signal);
      wake = () => link.abort(new Error("it is there"));
      await core.clock.sleep(core.limits.probeMs, link.signal).catch(() => undefined);
      link.unlink();
    },
  };
}

function settleModern(core: Core, revision: ModernRevision, result: JsonObject | undefined): ServerFacts {
  core.transport.settle({ era: "modern", revision });
  const discovered = result === undefined ? undefined : readDiscoverResult(result);
  const serverInfo = result === undefined ? undefined : readServerInfo(result);
  return Object.freeze({
    era: "modern",
    revision,
    capabilities: discovered?.capabilities ?? {},
    areCapabilitiesKnown: discovered !== undefined,
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(discovered?.instructions === undefined ? {} : { instructions: discovered.instructions }),
    verdictIsCertain: true,
  });
}

async function settleLegacy(
  core: Core,
  revision: LegacyRevision,
  end: ExchangeEnd,
  isCertain: boolean,
  headers: Readonly<Record<string, string>>,
): Promise<ServerFacts> {
  const read = end.kind === "result" ? readInitializeResult(end.result) : undefined;
  const result: InitializeResult = read?.kind === "agreed" ? read.result : { protocolVersion: revision, capabilities: {} };
  core.transport.settle({ era: "legacy", revision });
  try {
    await core.transport.send({ jsonrpc: "2.0", method: notifications.initialized }, { headers });
  } catch (error) {
    // A server that takes the handshake but not its last word is odd; a session that is gone already is not there.
    if (!(error instanceof PortcullisError) || error.code !== "http_error") throw error;
    core.oddities.note("handshake.initialized-refused", error.message);
  }
  return Object.freeze({
    era: "legacy",
    revision,
    capabilities: result.capabilities,
    areCapabilitiesKnown: true,
    ...(result.serverInfo === undefined ? {} : { serverInfo: result.serverInfo }),
    ...(result.instructions === undefined ? {} : { instructions: result.instructions }),
    verdictIsCertain: isCertain,
  });
}

function failure(method: string, end: ExchangeEnd, code?: "incompatible"): PortcullisError {
  switch (end.kind) {
    case "broken":
      if (end.error.code === "timed_out") {
        return requestError("connect_timeout", method, `the server did not answer \`${method}\` in time`, { wasSent: true, cause: end.error, data: end.error.data });
      }
      return end.error;
    case "rpc-error": {
      const error = fromRpcError(method, end.error, end.origin.httpStatus);
      const status = end.origin.httpStatus;
      if (code !== undefined) return new PortcullisError(code, error.message, { cause: error, data: error.data });
      if (status === 401 || status === 403) return new PortcullisError("auth_required", `the server answered with status ${status}`, { cause: error, data: error.data });
      return status !== undefined && status >= 500 ? new PortcullisError("http_error", error.message, { cause: error, data: error.data }) : error;
    }
    case "result":
      return requestError(code ?? "protocol_error", method, `\`${method}\` was answered by something else than its result`, { wasSent: true });
  }
}

function incompatible(serverVersions: readonly string[], method: string, end: ExchangeEnd, maybeHttpSse = false): PortcullisError {
  const clientVersions = [...MODERN_REVISIONS, ...LEGACY_REVISIONS];
  const theirs = serverVersions.length === 0 ? "does not say which versions it speaks" : `speaks ${oneLine(serverVersions.slice(0, 8).join(", "), 200)}`;
  const hint = maybeHttpSse ? "; it may be a server of the deprecated HTTP+SSE transport (`\"transport\": \"sse\"`)" : "";
  return new PortcullisError("incompatible", `the server ${theirs}; this client speaks ${clientVersions.join(", ")}${hint}`, {
    cause: end.kind === "broken" ? end.error : undefined,
    data: { method, serverVersions: serverVersions.slice(0, 8), clientVersions, maybeHttpSse, ...rpcData(method, end) },
  });
}

function rpcData(method: string, end: ExchangeEnd): Readonly<Record<string, unknown>> {
  return end.kind === "rpc-error" ? { rpc: fromRpcError(method, end.error).data["rpc"] } : {};
}

function leftBecauseOfProbe(end: ExchangeEnd): PortcullisError {
  const cause = end.kind === "broken" ? end.error : undefined;
  return new PortcullisError("process_exited", "the server left when it was asked for its protocol version; start it again as a legacy server", {
    cause,
    data: { ...cause?.data, startAgainWith: "legacy" },
  });
}
