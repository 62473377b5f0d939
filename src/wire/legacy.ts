/**
 * The codec of 2024-11-05 to 2025-11-25, both roles: `initialize` and the choice of a version. Pure.
 * Source: 2025-11-25 basic/lifecycle.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { InitializeParams, InitializeResult } from "../protocol/handshake.ts";
import {
  isLegacyRevision,
  LATEST_LEGACY,
  LEGACY_REVISIONS,
  type LegacyRevision,
} from "../protocol/revisions.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "../protocol/types.ts";
import { readImplementation } from "./meta.ts";

/** Client role: params of `initialize`. */
export function initializeParams(options: {
  readonly revision: LegacyRevision;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}): JsonObject {
  return {
    protocolVersion: options.revision,
    capabilities: options.capabilities as JsonObject,
    clientInfo: options.clientInfo as unknown as JsonObject,
  };
}

export type InitializeVerdict =
  | { readonly kind: "agreed"; readonly revision: LegacyRevision; readonly result: InitializeResult }
  /** The server answered a version that we do not speak over `initialize`. */
  | { readonly kind: "mismatch"; readonly version: string | null };

/**
 * Client role: reads the answer. A version that is not one of ours, that is missing, or that is a modern one ends the
 * connection: the server would go on with semantics that nobody agreed to.
 */
export function readInitializeResult(result: JsonObject): InitializeVerdict {
  const version = ownProperty(result, "protocolVersion");
  if (typeof version !== "string") return { kind: "mismatch", version: null };
  if (!isLegacyRevision(version)) return { kind: "mismatch", version: version.slice(0, 64) };
  const capabilities = ownProperty(result, "capabilities");
  const serverInfo = readImplementation(ownProperty(result, "serverInfo"));
  const instructions = ownProperty(result, "instructions");
  return {
    kind: "agreed",
    revision: version,
    result: {
      protocolVersion: version,
      capabilities: isJsonObject(capabilities) ? (capabilities as ServerCapabilities) : {},
      ...(serverInfo === undefined ? {} : { serverInfo }),
      ...(typeof instructions === "string" ? { instructions } : {}),
    },
  };
}

/** Server role: params of `initialize`; `undefined` where they are malformed (answer -32602). */
export function readInitializeParams(params: JsonObject | undefined): InitializeParams | undefined {
  if (params === undefined) return undefined;
  const protocolVersion = ownProperty(params, "protocolVersion");
  const capabilities = ownProperty(params, "capabilities");
  const clientInfo = readImplementation(ownProperty(params, "clientInfo"));
  if (typeof protocolVersion !== "string" || clientInfo === undefined) return undefined;
  return {
    protocolVersion,
    capabilities: isJsonObject(capabilities) ? (capabilities as ClientCapabilities) : {},
    clientInfo,
  };
}

/** Server role: the version to answer with: the one asked for where it is ours, else our newest. */
export function chooseLegacyRevision(asked: string): LegacyRevision {
  return isLegacyRevision(asked) ? asked : LATEST_LEGACY;
}

/** The newest legacy revision that is in `versions`. */
export function newestLegacy(versions: readonly string[]): LegacyRevision | undefined {
  return LEGACY_REVISIONS.find((revision) => versions.includes(revision));
}

/** Only 2025-03-26 allows JSON-RPC batches. */
export function allowsBatch(revision: string): boolean {
  return revision === "2025-03-26";
}
