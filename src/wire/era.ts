/**
 * Which era a server belongs to: what a probe (or an `initialize`) returned × where it was asked → a verdict. Pure; whoever
 * drives it owns the I/O and asks at most as often as the verdicts allow.
 *
 * Invariants: only -32020, -32021 and -32022 are evidence of the modern era, no other code; 401, 403, 5xx, network errors
 * and HTTP time-outs are no evidence at all; status and code are judged together; a verdict by time-out is never certain.
 * Source: transports/stdio#backward-compatibility, transports/streamable-http#backward-compatibility, basic/versioning.
 */
import { rpcCodes } from "../protocol/codes.ts";
import {
  isModernRevision,
  LATEST_LEGACY,
  LATEST_MODERN,
  type LegacyRevision,
  type ModernRevision,
} from "../protocol/revisions.ts";
import { newestLegacy } from "./legacy.ts";

/** What came back. `status` is the HTTP status where there was one. */
export type HandshakeAnswer =
  | { readonly kind: "discovered"; readonly versions: readonly string[] }
  | { readonly kind: "agreed"; readonly revision: LegacyRevision }
  /** `initialize` was answered with a version that is not ours. */
  | { readonly kind: "mismatch"; readonly version: string | null }
  /** A JSON-RPC error; `supported` is its list of versions, where it has one. */
  | {
      readonly kind: "rpc-error";
      readonly code: number;
      readonly supported?: readonly string[];
      readonly status?: number;
    }
  /** An answer that is no JSON-RPC response, or a result of another shape. */
  | { readonly kind: "unreadable"; readonly status?: number }
  | { readonly kind: "timed-out" }
  /** The process left, or the channel ended. */
  | { readonly kind: "closed" }
  /** The network failed. */
  | { readonly kind: "failed" };

/** `stream`: one ordered channel to one peer (stdio, in memory). `http`: one exchange per request. */
type Channel = "stream" | "http";

export interface ProbeContext {
  readonly channel: Channel;
  /** The revision that was asked with. */
  readonly asked: ModernRevision;
  /** Whether the probe was already sent again after a correction. */
  readonly isSecond: boolean;
}

export type ProbeVerdict =
  | { readonly kind: "modern"; readonly revision: ModernRevision }
  /** Modern, and the request has to be corrected and sent once more. */
  | {
      readonly kind: "ask-again";
      readonly revision: ModernRevision;
      readonly why: "version" | "headers" | "capability";
    }
  | {
      readonly kind: "legacy";
      /** To offer in `initialize`. */
      readonly revision: LegacyRevision;
      readonly isCertain: boolean;
      /** What would still turn the verdict if `initialize` is refused. */
      readonly doubt: "none" | "late-discover" | "unknown-method";
      /** The process left because of the probe: a fresh one is needed. */
      readonly needsFreshStart: boolean;
    }
  | { readonly kind: "incompatible"; readonly serverVersions: readonly string[] }
  | { readonly kind: "auth" }
  /** No evidence: the connection failed. */
  | { readonly kind: "error" };

/** Judges the answer to `server/discover`. */
export function classifyProbe(answer: HandshakeAnswer, context: ProbeContext): ProbeVerdict {
  switch (answer.kind) {
    case "discovered":
      return byVersions(answer.versions) ?? { kind: "incompatible", serverVersions: answer.versions };
    case "rpc-error": {
      const status = classifyStatus(context.channel, answer.status);
      if (status !== undefined) return status;
      if (isModernEvidence(answer.code))
        return classifyModernError(answer.code, answer.supported ?? [], context);
      // A modern server may lack the mandatory discover: 404 with -32601 is its "unknown method", not a missing endpoint.
      const isUnknownMethod = answer.status === 404 && answer.code === rpcCodes.methodNotFound;
      return legacy({ doubt: isUnknownMethod ? "unknown-method" : "none" });
    }
    case "unreadable":
      return classifyStatus(context.channel, answer.status) ?? legacy({});
    case "timed-out":
      return context.channel === "http"
        ? { kind: "error" }
        : legacy({ isCertain: false, doubt: "late-discover" });
    case "closed":
      return context.channel === "http" ? { kind: "error" } : legacy({ needsFreshStart: true });
    case "agreed":
    case "mismatch":
    case "failed":
      return { kind: "error" };
  }
}

function classifyModernError(
  code: number,
  supported: readonly string[],
  context: ProbeContext,
): ProbeVerdict {
  if (code === rpcCodes.unsupportedProtocolVersion) {
    const verdict = byVersions(supported);
    if (verdict === undefined || (verdict.kind === "modern" && context.isSecond)) {
      return { kind: "incompatible", serverVersions: supported };
    }
    return verdict.kind === "modern"
      ? { kind: "ask-again", revision: verdict.revision, why: "version" }
      : verdict;
  }
  if (context.isSecond) return { kind: "incompatible", serverVersions: [] };
  const why = code === rpcCodes.headerMismatch ? "headers" : "capability";
  return { kind: "ask-again", revision: context.asked, why };
}

type VersionVerdict = Extract<ProbeVerdict, { readonly kind: "modern" | "legacy" }>;

/** The newest revision in common, modern ones first; `undefined` where there is none. */
function byVersions(versions: readonly string[]): VersionVerdict | undefined {
  const modern = versions.find(isModernRevision);
  if (modern !== undefined) return { kind: "modern", revision: modern };
  const revision = newestLegacy(versions);
  return revision === undefined ? undefined : legacy({ revision });
}

type LegacyVerdict = Extract<ProbeVerdict, { readonly kind: "legacy" }>;

function legacy(verdict: Partial<Omit<LegacyVerdict, "kind">>): LegacyVerdict {
  return {
    kind: "legacy",
    revision: LATEST_LEGACY,
    isCertain: true,
    doubt: "none",
    needsFreshStart: false,
    ...verdict,
  };
}

/** True for the three codes that only a modern server sends. */
export function isModernEvidence(code: number): boolean {
  return (
    code === rpcCodes.headerMismatch ||
    code === rpcCodes.missingClientCapability ||
    code === rpcCodes.unsupportedProtocolVersion
  );
}

/** What a status says by itself, whatever the body: authorization, or nothing about the era. */
function classifyStatus(
  channel: Channel,
  status: number | undefined,
): { readonly kind: "auth" } | { readonly kind: "error" } | undefined {
  if (channel !== "http" || status === undefined) return undefined;
  if (status === 401 || status === 403) return { kind: "auth" };
  const isTransient = status === 407 || status === 408 || status === 425 || status === 429 || status >= 500;
  const isRedirect = status >= 300 && status < 400;
  return isTransient || isRedirect ? { kind: "error" } : undefined;
}

export interface InitializeContext {
  readonly channel: Channel;
  /** The revision that was offered. */
  readonly offered: LegacyRevision;
  readonly isSecond: boolean;
  /** The doubt that the probe left; `late-discover` once a late DiscoverResult is there. */
  readonly doubt: "none" | "late-discover" | "unknown-method";
  /** Versions of a DiscoverResult that came late. */
  readonly lateVersions?: readonly string[];
}

export type InitializeVerdict =
  | { readonly kind: "legacy"; readonly revision: LegacyRevision }
  /** Modern after all; `isInline`: it has no discover, requests are sent without facts. */
  | { readonly kind: "modern"; readonly revision: ModernRevision; readonly isInline: boolean }
  | { readonly kind: "ask-again"; readonly revision: LegacyRevision }
  /** The server only knows the modern era, or wants another one: probe (again). */
  | { readonly kind: "probe" }
  | {
      readonly kind: "incompatible";
      readonly serverVersions: readonly string[];
      readonly maybeHttpSse: boolean;
    }
  | { readonly kind: "auth" }
  | { readonly kind: "error" };

/** The revision to offer to a server that refuses the newest one by a bare 400. */
const WIDELY_KNOWN: LegacyRevision = "2025-06-18";

/** Judges the answer to `initialize`. */
export function classifyInitialize(answer: HandshakeAnswer, context: InitializeContext): InitializeVerdict {
  switch (answer.kind) {
    case "agreed":
      return { kind: "legacy", revision: answer.revision };
    case "mismatch":
      return incompatible(answer.version === null ? [] : [answer.version]);
    case "rpc-error":
      return classifyStatus(context.channel, answer.status) ?? classifyRefusal(answer, context);
    case "unreadable":
      return classifyStatus(context.channel, answer.status) ?? classifyBareRefusal(answer.status, context);
    case "timed-out":
      return lateModern(context) ?? { kind: "error" };
    case "closed":
    case "failed":
    case "discovered":
      return { kind: "error" };
  }
}

function classifyRefusal(
  answer: Extract<HandshakeAnswer, { readonly kind: "rpc-error" }>,
  context: InitializeContext,
): InitializeVerdict {
  const late = lateModern(context);
  if (late !== undefined) return late;
  const isUnknownMethod = answer.status === 404 && answer.code === rpcCodes.methodNotFound;
  if (context.doubt === "unknown-method" && isUnknownMethod)
    return { kind: "modern", revision: LATEST_MODERN, isInline: true };
  const supported = answer.supported ?? [];
  const revision = newestLegacy(supported);
  if (revision !== undefined && revision !== context.offered && !context.isSecond)
    return { kind: "ask-again", revision };
  if (isModernEvidence(answer.code) || isUnknownMethod || supported.some(isModernRevision))
    return { kind: "probe" };
  if (answer.code === rpcCodes.methodNotFound) return { kind: "probe" };
  return supported.length > 0 ? incompatible(supported) : { kind: "error" };
}

function classifyBareRefusal(status: number | undefined, context: InitializeContext): InitializeVerdict {
  const late = lateModern(context);
  if (late !== undefined) return late;
  if (context.channel !== "http") return { kind: "error" };
  if (status === 400 && !context.isSecond && context.offered !== WIDELY_KNOWN)
    return { kind: "ask-again", revision: WIDELY_KNOWN };
  const maybeHttpSse = status === 400 || status === 404 || status === 405;
  return maybeHttpSse ? { kind: "incompatible", serverVersions: [], maybeHttpSse } : { kind: "error" };
}

function lateModern(context: InitializeContext): InitializeVerdict | undefined {
  const revision = context.lateVersions?.find(isModernRevision);
  return revision === undefined ? undefined : { kind: "modern", revision, isInline: false };
}

function incompatible(serverVersions: readonly string[]): InitializeVerdict {
  return { kind: "incompatible", serverVersions, maybeHttpSse: false };
}
