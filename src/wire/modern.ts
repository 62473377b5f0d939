/**
 * The codec of 2026-07-28, both roles: the envelope in `_meta` of every request, and what a result says it is.
 * Pure: objects in, objects out. Source: basic/index#_meta, #resulttype, server/discover.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import type { CacheScope, DiscoverResult } from "../protocol/handshake.ts";
import type { InputRequest, InputRequests } from "../protocol/input-requests.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import { methods, MULTI_ROUND_METHODS } from "../protocol/methods.ts";
import { isModernRevision, MODERN_REVISIONS, type ModernRevision } from "../protocol/revisions.ts";
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  ServerCapabilities,
} from "../protocol/types.ts";
import { readImplementation, readMeta } from "./meta.ts";

/** What every modern request says about its sender. */
export interface Envelope {
  readonly revision: ModernRevision;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo?: Implementation;
  readonly logLevel?: LoggingLevel;
}

/** The members of `_meta` that carry an envelope. */
export function envelopeMeta(envelope: Envelope): JsonObject {
  const meta: JsonObject = {
    [metaKeys.protocolVersion]: envelope.revision,
    [metaKeys.clientCapabilities]: envelope.capabilities as JsonObject,
  };
  if (envelope.clientInfo !== undefined)
    meta[metaKeys.clientInfo] = envelope.clientInfo as unknown as JsonObject;
  if (envelope.logLevel !== undefined) meta[metaKeys.logLevel] = envelope.logLevel;
  return meta;
}

/** Server role: the envelope of a request, or the error to answer with (400 over HTTP). */
export function readEnvelope(
  params: JsonObject | undefined,
):
  | { readonly ok: true; readonly envelope: Envelope }
  | { readonly ok: false; readonly error: JsonRpcErrorObject } {
  const meta = readMeta(params);
  const version = meta === undefined ? undefined : ownProperty(meta, metaKeys.protocolVersion);
  if (meta === undefined || typeof version !== "string") {
    return refuse(rpcCodes.invalidParams, `_meta must have ${metaKeys.protocolVersion}`);
  }
  const capabilities = ownProperty(meta, metaKeys.clientCapabilities);
  if (!isJsonObject(capabilities))
    return refuse(rpcCodes.invalidParams, `_meta must have ${metaKeys.clientCapabilities}`);
  if (!isModernRevision(version)) {
    const data = { supported: [...MODERN_REVISIONS], requested: version.slice(0, 64) };
    return refuse(rpcCodes.unsupportedProtocolVersion, "unsupported protocol version", data);
  }
  const clientInfo = readImplementation(ownProperty(meta, metaKeys.clientInfo));
  const logLevel = ownProperty(meta, metaKeys.logLevel);
  return {
    ok: true,
    envelope: {
      revision: version,
      capabilities: capabilities as ClientCapabilities,
      ...(clientInfo === undefined ? {} : { clientInfo }),
      ...(typeof logLevel === "string" ? { logLevel: logLevel as LoggingLevel } : {}),
    },
  };
}

function refuse(
  code: number,
  message: string,
  data?: JsonValue,
): { readonly ok: false; readonly error: JsonRpcErrorObject } {
  return { ok: false, error: data === undefined ? { code, message } : { code, message, data } };
}

/** What a result is. `flaw` is a dotted id of a harmless defect worth counting. */
export type ModernResult =
  | { readonly kind: "complete"; readonly result: JsonObject; readonly flaw?: "result.no-type" }
  | { readonly kind: "input_required"; readonly inputRequests: InputRequests; readonly requestState?: string }
  | { readonly kind: "task"; readonly result: JsonObject }
  | { readonly kind: "invalid"; readonly reason: string };

/**
 * Client role: reads `resultType`. An absent one is complete (and a defect); `input_required` only answers the three methods
 * that allow it; `task` only a `tools/call` that declared the extension; anything else is an invalid response.
 */
export function readModernResult(method: string, result: JsonObject, acceptsTask: boolean): ModernResult {
  const type = ownProperty(result, "resultType");
  if (type === "complete") return { kind: "complete", result };
  if (type === undefined) return { kind: "complete", result, flaw: "result.no-type" };
  if (type === "input_required") return readInputRequired(method, result);
  if (type === "task") {
    if (method === methods.callTool && acceptsTask) return { kind: "task", result };
    // SEP-2663's own examples show `task` on the answers to the task methods.
    if (method === methods.getTask) return { kind: "complete", result };
    return { kind: "invalid", reason: `a task was given for ${method}, which did not allow one` };
  }
  return { kind: "invalid", reason: "resultType is unknown" };
}

function readInputRequired(method: string, result: JsonObject): ModernResult {
  if (!MULTI_ROUND_METHODS.has(method))
    return { kind: "invalid", reason: `${method} may not be answered by input_required` };
  const requests = ownProperty(result, "inputRequests");
  const state = ownProperty(result, "requestState");
  if (requests === undefined && state === undefined) {
    return { kind: "invalid", reason: "input_required has neither inputRequests nor requestState" };
  }
  if (state !== undefined && typeof state !== "string")
    return { kind: "invalid", reason: "requestState is not a string" };
  const inputRequests = requests === undefined ? {} : readInputRequests(requests);
  if (inputRequests === undefined) return { kind: "invalid", reason: "inputRequests is malformed" };
  return { kind: "input_required", inputRequests, ...(state === undefined ? {} : { requestState: state }) };
}

/** A map of key → request; `undefined` where anything in it is malformed. Made without a prototype: any key is ordinary. */
export function readInputRequests(value: unknown): InputRequests | undefined {
  if (!isJsonObject(value)) return undefined;
  const requests = Object.create(null) as Record<string, InputRequest>;
  for (const key of Object.keys(value)) {
    const request = value[key];
    if (!isJsonObject(request)) return undefined;
    const method = ownProperty(request, "method");
    const params = ownProperty(request, "params");
    if (typeof method !== "string" || (params !== undefined && !isJsonObject(params))) return undefined;
    requests[key] = params === undefined ? { method } : { method, params };
  }
  return requests;
}

/** Server role: stamps a complete result; `cache` where the method's result is cacheable. */
export function completeResult(
  result: JsonObject,
  options: {
    readonly serverInfo?: Implementation;
    readonly cache?: Freshness;
  } = {},
): JsonObject {
  const stamped: JsonObject = { resultType: "complete", ...result };
  if (options.cache !== undefined) {
    stamped["ttlMs"] = options.cache.ttlMs;
    stamped["cacheScope"] = options.cache.cacheScope;
  }
  if (options.serverInfo !== undefined) {
    stamped["_meta"] = {
      ...readMeta(result),
      [metaKeys.serverInfo]: options.serverInfo as unknown as JsonObject,
    };
  }
  return stamped;
}

/** How long and for whom a result may be kept: 0 and private where the server does not say. */
export interface Freshness {
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

const MAX_TTL_MS = 24 * 60 * 60 * 1_000;

/** Reads `ttlMs` (a whole number from 0, at most one day counts) and `cacheScope`. */
export function readFreshness(result: JsonObject): Freshness {
  const ttl = ownProperty(result, "ttlMs");
  return {
    ttlMs:
      typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0 ? Math.min(Math.floor(ttl), MAX_TTL_MS) : 0,
    cacheScope: ownProperty(result, "cacheScope") === "public" ? "public" : "private",
  };
}

const MAX_VERSIONS = 64;

/** A DiscoverResult, as far as it can be read; `undefined` where the result is none. */
export function readDiscoverResult(result: JsonObject): DiscoverResult | undefined {
  const type = ownProperty(result, "resultType");
  if (type !== undefined && type !== "complete") return undefined;
  const supportedVersions = readVersions(ownProperty(result, "supportedVersions"));
  if (supportedVersions === undefined) return undefined;
  const capabilities = ownProperty(result, "capabilities");
  const instructions = ownProperty(result, "instructions");
  return {
    supportedVersions,
    capabilities: isJsonObject(capabilities) ? (capabilities as ServerCapabilities) : {},
    ...(typeof instructions === "string" ? { instructions } : {}),
    ...readFreshness(result),
  };
}

/** A non-empty list of version strings; `undefined` otherwise. */
export function readVersions(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const versions = value
    .slice(0, MAX_VERSIONS)
    .filter((version): version is string => typeof version === "string");
  return versions.length === 0 ? undefined : versions;
}
