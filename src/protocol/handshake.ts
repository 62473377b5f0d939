/** What discovery and the handshake say. Source: schema of 2026-07-28 (`server/discover`) and 2025-11-25 (`initialize`). */
import type { ClientCapabilities, Implementation, ServerCapabilities } from "./types.ts";

/** `public`: may be shared between principals; `private` (also where absent): belongs to one authorization context. */
export type CacheScope = "public" | "private";

export interface DiscoverResult {
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
  readonly ttlMs?: number;
  readonly cacheScope?: CacheScope;
}

export interface InitializeParams {
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo?: Implementation;
  readonly instructions?: string;
}
