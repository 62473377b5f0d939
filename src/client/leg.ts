/**
 * One leg of a request: envelope, headers, exchange, and what its answer is. Sends again at most once, at any grade, and only
 * where the answer proves that nothing was executed: -32020 (headers made anew), -32022 (another common revision), a lost
 * session, a 401 or 403 that the hook could mend. Nothing else is ever repeated here.
 */
import { abortReason, untilAborted } from "../base/abort.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import { methods, TASKS_EXTENSION } from "../protocol/methods.ts";
import { isModernRevision, type ModernRevision } from "../protocol/revisions.ts";
import type { ClientCapabilities, Implementation, LoggingLevel } from "../protocol/types.ts";
import { requestHeaders } from "../wire/headers.ts";
import { traceMembers } from "../wire/meta.ts";
import { envelopeMeta, readModernResult, readVersions, type ModernResult } from "../wire/modern.ts";
import type { Core } from "./core.ts";
import type { ExchangeEnd } from "./correlation.ts";
import type { ServerFacts } from "./facts.ts";
import { declareCapabilities, type InputHandler } from "./input-handler.ts";
import type { RequestOptions } from "./options.ts";
import type { Epoch, Recovery } from "./recovery.ts";
import {
  fromRpcError,
  fromTransportError,
  givenUpError,
  mayMeanLostSession,
  requestError,
} from "./remote-error.ts";

export type Leg = Exclude<ModernResult, { readonly kind: "invalid" }>;

export interface LegOptions extends RequestOptions {
  /** Modern `tools/call`: declares the tasks extension, so that a task may be the answer. */
  readonly acceptsTask?: boolean;
  /** Used while a session is being renewed: does not wait for it. */
  readonly passesGate?: boolean;
  /** Told the id of each message that is sent for it. */
  readonly onId?: (id: number) => void;
  /** Belongs to this session (`Epoch.session`), as a cursor does: fails with `session_lost` once there is another. */
  readonly session?: number;
}

/** Sends a request and resolves with what its answer is. @throws PortcullisError: see `remote-error.ts`. */
export type SendLeg = (method: string, params: JsonObject | undefined, options: LegOptions) => Promise<Leg>;

export function createSendLeg(
  core: Core,
  recovery: Recovery,
  refreshTools: (signal: AbortSignal | undefined) => Promise<void>,
): SendLeg {
  return async (method, params, options) => {
    let revision: ModernRevision | undefined;
    for (let isSecond = false; ; isSecond = true) {
      if (options.passesGate !== true) {
        if (recovery.isInDoubt) await wait(method, recovery.resolveDoubt(options.signal), options.signal);
        else if (recovery.gate !== undefined) await wait(method, recovery.gate, options.signal);
      }
      const facts = core.facts();
      const epoch = recovery.epoch;
      if (options.session !== undefined && options.session !== epoch.session) throw belongsToAnother(method);
      const end = await sendOnce(core, facts, recovery.headers, method, params, options, revision);
      if (end.kind === "result") return readLeg(core, facts, method, end, options);
      if (end.kind === "broken") {
        if (!isSecond && (await mends(method, end.error, epoch, options))) continue;
        doubtIfOdd(facts, end.error, options);
        throw finished(method, end.error);
      }
      const status = end.origin.httpStatus;
      const error =
        status === 401 || status === 403
          ? refusedByStatus(method, end, status)
          : fromRpcError(method, end.error, status);
      if (!isSecond) {
        if (error.code === "auth_required" && (await mends(method, error, epoch, options))) continue;
        if (end.error.code === rpcCodes.unsupportedProtocolVersion) {
          revision = commonRevision(end);
          if (revision !== undefined) continue;
        }
        if (
          end.error.code === rpcCodes.headerMismatch &&
          core.isHttp &&
          method === methods.callTool &&
          options.headerPlan === undefined
        ) {
          await refreshTools(options.signal);
          continue;
        }
      }
      doubtIfOdd(facts, error, options);
      throw error;
    }
  };

  function doubtIfOdd(facts: ServerFacts, error: PortcullisError, options: LegOptions): void {
    if (core.isHttp && facts.era === "legacy" && options.passesGate !== true && mayMeanLostSession(error))
      recovery.doubtSession();
  }

  /** Waits for what makes the request worth sending again; false where nothing does. */
  async function mends(
    method: string,
    error: PortcullisError,
    epoch: Epoch,
    options: LegOptions,
  ): Promise<boolean> {
    if (options.passesGate === true) return false;
    try {
      if (error.code === "auth_required") return await recovery.authorize(error, epoch, options.signal);
      if (error.code !== "session_lost") return false;
      await recovery.renew(epoch, options.signal);
      // Only the 404 that the specification names proves that nothing ran; other signs of a lost session may lie.
      return error.data["status"] === 404 || !mayHaveEffect(method, options);
    } catch (cause) {
      if (options.signal?.aborted === true) throw givenUpError(method, abortReason(options.signal), false);
      // It was refused before it was executed, and now it is not sent again.
      throw requestError(
        toPortcullisError(cause, error.code).code,
        method,
        toPortcullisError(cause).message,
        {
          wasSent: false,
          cause,
          data: toPortcullisError(cause).data,
        },
      );
    }
  }
}

function sendOnce(
  core: Core,
  facts: ServerFacts,
  authorization: Readonly<Record<string, string>>,
  method: string,
  params: JsonObject | undefined,
  options: LegOptions,
  revision: ModernRevision | undefined,
): Promise<ExchangeEnd> {
  const id = core.correlation.nextId();
  options.onId?.(id);
  const totalTimeoutMs = options.totalTimeoutMs ?? core.limits.totalTimeoutMs;
  const isCall = method === methods.callTool;
  const wantsProgress = isCall || options.onProgress !== undefined;
  const complete =
    facts.era === "modern"
      ? modernParams(core, facts, method, params, options, revision, wantsProgress ? id : undefined)
      : legacyParams(params, options, wantsProgress ? id : undefined);
  return core.exchange({
    id,
    method,
    params: complete,
    era: facts.era,
    headers: core.isHttp
      ? headersOf(core, facts, authorization, method, complete, options, revision)
      : undefined,
    mayHaveEffect: mayHaveEffect(method, options),
    idleTimeoutMs: options.idleTimeoutMs ?? core.limits.idleTimeoutMs,
    totalTimeoutMs,
    totalLeftMs: options.totalLeftMs ?? totalTimeoutMs,
    signal: options.signal,
    inputs: options.inputs,
    onProgress: options.onProgress,
    onLate: options.onLate,
  });
}

function belongsToAnother(method: string): PortcullisError {
  return requestError("session_lost", method, `\`${method}\` goes on from a session that is over`, {
    wasSent: false,
  });
}

function mayHaveEffect(method: string, options: LegOptions): boolean {
  return options.mayHaveEffect ?? method === methods.callTool;
}

/** Waits before anything is sent. @throws PortcullisError `cancelled` or the reason's own code, with `data.wasSent = false`. */
async function wait(method: string, work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  try {
    await untilAborted(work, signal);
  } catch (error) {
    throw signal?.aborted === true ? givenUpError(method, abortReason(signal), false) : error;
  }
}

/** What is declared on one modern request. */
export function declaredOn(
  core: Core,
  options: Pick<LegOptions, "clientCapabilities" | "inputs" | "acceptsTask">,
): ClientCapabilities {
  const own =
    options.inputs === undefined ? core.capabilities : declarationOf(core.baseCapabilities, options.inputs);
  const declared = options.clientCapabilities ?? own;
  return options.acceptsTask === true ? withTasks(declared) : declared;
}

/** Calls that nobody answers for share one handler, and so one declaration. */
const declarations = new WeakMap<ClientCapabilities, WeakMap<InputHandler, ClientCapabilities>>();

function declarationOf(base: ClientCapabilities, inputs: InputHandler): ClientCapabilities {
  const ofBase = declarations.get(base) ?? new WeakMap<InputHandler, ClientCapabilities>();
  declarations.set(base, ofBase);
  const declared = ofBase.get(inputs) ?? declareCapabilities(base, inputs);
  ofBase.set(inputs, declared);
  return declared;
}

/** Made once for each declaration, as envelopes are: they are the same for call after call. */
const declarationsWithTasks = new WeakMap<ClientCapabilities, ClientCapabilities>();

function withTasks(declared: ClientCapabilities): ClientCapabilities {
  const known = declarationsWithTasks.get(declared);
  if (known !== undefined) return known;
  const made = { ...declared, extensions: { ...declared.extensions, [TASKS_EXTENSION]: {} } };
  declarationsWithTasks.set(declared, made);
  return made;
}

interface KnownEnvelope {
  readonly revision: ModernRevision;
  readonly clientInfo: Implementation;
  readonly logLevel: LoggingLevel | undefined;
  readonly meta: JsonObject;
}

const envelopes = new WeakMap<ClientCapabilities, KnownEnvelope>();

function envelopeOf(
  core: Core,
  capabilities: ClientCapabilities,
  revision: ModernRevision,
  logLevel: LoggingLevel | undefined,
): JsonObject {
  const { clientInfo } = core;
  const known = envelopes.get(capabilities);
  if (known?.revision === revision && known.clientInfo === clientInfo && known.logLevel === logLevel)
    return known.meta;
  const meta = envelopeMeta({
    revision,
    capabilities,
    clientInfo,
    ...(logLevel === undefined ? {} : { logLevel }),
  });
  envelopes.set(capabilities, { revision, clientInfo, logLevel, meta });
  return meta;
}

function modernParams(
  core: Core,
  facts: ServerFacts,
  method: string,
  params: JsonObject | undefined,
  options: LegOptions,
  revision: ModernRevision | undefined,
  progressToken: number | undefined,
): JsonObject {
  const logLevel = method === methods.listen ? undefined : (options.logLevel ?? core.logLevel);
  const spoken = revision ?? (facts.revision as ModernRevision);
  const envelope = envelopeOf(core, declaredOn(core, options), spoken, logLevel);
  const meta: JsonObject = options.meta === undefined ? { ...envelope } : { ...options.meta, ...envelope };
  if (options.trace !== undefined) Object.assign(meta, traceMembers(options.trace));
  if (progressToken !== undefined) meta[metaKeys.progressToken] = progressToken;
  return { ...params, _meta: meta };
}

function legacyParams(
  params: JsonObject | undefined,
  options: LegOptions,
  progressToken: number | undefined,
): JsonObject | undefined {
  if (progressToken === undefined && options.meta === undefined && options.trace === undefined) return params;
  const meta: JsonObject = { ...options.meta };
  if (options.trace !== undefined) Object.assign(meta, traceMembers(options.trace));
  if (progressToken !== undefined) meta[metaKeys.progressToken] = progressToken;
  return { ...params, _meta: meta };
}

function headersOf(
  core: Core,
  facts: ServerFacts,
  authorization: Readonly<Record<string, string>>,
  method: string,
  params: JsonObject | undefined,
  options: LegOptions,
  revision: ModernRevision | undefined,
): Readonly<Record<string, string>> {
  if (facts.era === "legacy") return authorization;
  const tool = method === methods.callTool && params !== undefined ? params["name"] : undefined;
  const plan = options.headerPlan ?? (typeof tool === "string" ? core.headerPlans.get(tool) : undefined);
  try {
    return { ...requestHeaders(revision ?? facts.revision, method, params, plan), ...authorization };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw requestError("invalid_arguments", method, message, { wasSent: false, cause });
  }
}

function readLeg(
  core: Core,
  facts: ServerFacts,
  method: string,
  end: Extract<ExchangeEnd, { readonly kind: "result" }>,
  options: LegOptions,
): Leg {
  if (facts.era === "legacy") return { kind: "complete", result: end.result };
  const read = readModernResult(method, end.result, options.acceptsTask === true);
  if (read.kind === "invalid") {
    throw requestError("protocol_error", method, `\`${method}\` was answered wrongly: ${read.reason}`, {
      wasSent: true,
    });
  }
  if (read.kind === "complete" && read.flaw !== undefined) core.oddities.note(read.flaw, method);
  return read;
}

function commonRevision(
  end: Extract<ExchangeEnd, { readonly kind: "rpc-error" }>,
): ModernRevision | undefined {
  const data = end.error.data;
  return isJsonObject(data)
    ? readVersions(ownProperty(data, "supported"))?.find(isModernRevision)
    : undefined;
}

function refusedByStatus(
  method: string,
  end: Extract<ExchangeEnd, { readonly kind: "rpc-error" }>,
  status: number,
): PortcullisError {
  const error = fromRpcError(method, end.error, status);
  return new PortcullisError("auth_required", `the server answered \`${method}\` with status ${status}`, {
    cause: error,
    data: { ...error.data, provesNoEffect: true },
  });
}

/** A failure with what every error of a request carries, whoever reported it. */
function finished(method: string, error: PortcullisError): PortcullisError {
  if (typeof error.data["provesNoEffect"] === "boolean") return error;
  return fromTransportError(method, error, error.data["wasSent"] !== false);
}
