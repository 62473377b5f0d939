/**
 * The era probe and the handshake on one open transport: drives the tables of `wire/era.ts`.
 *
 * Invariants: the probe and `initialize` go to the same process; nothing is sent twice unless a verdict says so, and each
 * kind of correction at most once; neither is ever cancelled on the wire; a late answer to the probe counts only where
 * `initialize` was refused. Source: transports/stdio#backward-compatibility, 2025-11-25 basic/lifecycle.
 */
import { throwIfAborted, untilAborted } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { InitializeResult } from "../protocol/handshake.ts";
import { methods, notifications } from "../protocol/methods.ts";
import {
  LATEST_LEGACY,
  LATEST_MODERN,
  type Era,
  type LegacyRevision,
  type ModernRevision,
} from "../protocol/revisions.ts";
import { classifyInitialize, classifyProbe, type InitializeContext } from "../wire/era.ts";
import { requestHeaders } from "../wire/headers.ts";
import { initializeParams, readInitializeResult } from "../wire/legacy.ts";
import { readServerInfo } from "../wire/meta.ts";
import { envelopeMeta, readDiscoverResult } from "../wire/modern.ts";
import type { Core } from "./core.ts";
import type { ExchangeEnd, LateAnswer } from "./correlation.ts";
import type { ServerFacts } from "./facts.ts";
import { readAnswer } from "./handshake-answer.ts";
import { handshakeFailure, incompatible, leftBecauseOfProbe } from "./handshake-error.ts";
import { createLateProbe } from "./late-probe.ts";

export interface HandshakeOptions {
  readonly hint: Era | undefined;
  /** Headers for authorization, and a chance to get (other) ones: true where it is worth asking again. */
  headers(): Readonly<Record<string, string>>;
  readonly authorize: (error: PortcullisError) => Promise<boolean>;
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
  const initialize = (
    revision: LegacyRevision,
    more: Partial<InitializeContext> = {},
    isCertain = true,
  ): Step => ({
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
      const answer = readAnswer(methods.discover, end);
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
          const error = handshakeFailure(methods.discover, end);
          if (!mayAuthorize || !(await authorize(error))) throw error;
          mayAuthorize = false;
          continue;
        }
        case "error":
          throw handshakeFailure(methods.discover, end);
        default:
          assertNever(verdict);
      }
    }
    const { context, isCertain } = step;
    const end: ExchangeEnd = await ask(core, options, step, undefined);
    throwIfAborted(options.signal);
    const answer = readAnswer(methods.initialize, end);
    if (context.doubt === "late-discover" && answer.kind !== "agreed")
      await late.arrival(core, options.signal);
    const lateVersions = late.discovered()?.supportedVersions;
    const verdict = classifyInitialize(answer, {
      ...context,
      ...(lateVersions === undefined ? {} : { lateVersions }),
    });
    switch (verdict.kind) {
      case "legacy":
        return settleLegacy(core, verdict.revision, end, isCertain, options.headers());
      case "modern":
        return settleModern(core, verdict.revision, late.result());
      case "ask-again":
        core.oddities.note("era.ask-again-version");
        step = initialize(
          verdict.revision,
          { ...context, isSecond: true, offered: verdict.revision },
          isCertain,
        );
        continue;
      case "probe":
        if (hasProbed) throw handshakeFailure(methods.initialize, end, "incompatible");
        step = probe(LATEST_MODERN);
        continue;
      case "incompatible":
        throw incompatible(verdict.serverVersions, methods.initialize, end, verdict.maybeHttpSse);
      case "auth": {
        const error = handshakeFailure(methods.initialize, end);
        if (!mayAuthorize || !(await authorize(error))) throw error;
        mayAuthorize = false;
        continue;
      }
      case "error":
        throw handshakeFailure(methods.initialize, end);
      default:
        assertNever(verdict);
    }
  }
  throw new PortcullisError(
    "incompatible",
    "the server changes its mind about its protocol version again and again",
  );
}

/** Sends one message of the handshake. */
function ask(
  core: Core,
  options: HandshakeOptions,
  step: Step,
  onLate: ((answer: LateAnswer) => void) | undefined,
): Promise<ExchangeEnd> {
  const { limits } = core;
  const id = core.correlation.nextId();
  const common = {
    id,
    totalLeftMs: Infinity,
    totalTimeoutMs: Infinity,
    isHandshake: true,
    signal: options.signal,
    onLate,
  };
  if (step.kind === "initialize") {
    const { offered } = step.context;
    const params = initializeParams({
      revision: offered,
      capabilities: core.capabilities,
      clientInfo: core.clientInfo,
    });
    return core.exchange({
      ...common,
      method: methods.initialize,
      params,
      era: "legacy",
      headers: options.headers(),
      idleTimeoutMs: limits.handshakeMs,
    });
  }
  const envelope = { revision: step.revision, capabilities: core.capabilities, clientInfo: core.clientInfo };
  const params: JsonObject = { _meta: envelopeMeta(envelope) };
  const headers = core.isHttp
    ? { ...requestHeaders(step.revision, methods.discover, params, undefined), ...options.headers() }
    : undefined;
  // A server that was modern before gets half of the time: should it be legacy by now, the other half is for `initialize`.
  const patienceMs =
    options.hint === "modern" ? Math.max(limits.probeMs, limits.handshakeMs / 2) : limits.probeMs;
  return core.exchange({
    ...common,
    method: methods.discover,
    params,
    era: "modern",
    headers,
    idleTimeoutMs: core.isHttp ? limits.handshakeMs : patienceMs,
  });
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
  const result: InitializeResult =
    read?.kind === "agreed" ? read.result : { protocolVersion: revision, capabilities: {} };
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
