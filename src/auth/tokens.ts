/**
 * The tokens of one connection: keyed by server entry, credential and resource; everything that a refresh or a revocation needs
 * lies with them, so that neither ever asks anybody else than the authorization server that issued them (AUTH-15, AUTH-59).
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../base/json.ts";
import type { ClientIdentity } from "./client-identity.ts";
import type { DpopKey } from "./dpop.ts";
import type { SealedDocuments } from "./sealed-document.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { IssuedTokens } from "./token-request.ts";

export interface TokenSet {
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  /** Epoch milliseconds. */
  readonly obtainedAt: number;
  /** Epoch milliseconds; `null`: not said, a 401 tells. */
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
  /** Granted. */
  readonly scopes: readonly string[];
  /** Asked for; the next login asks for these too. */
  readonly requested: readonly string[];
  /** `resource`, byte for byte. */
  readonly resource: string;
  readonly server: AuthServer;
  readonly client: ClientIdentity;
  readonly dpopKey: DpopKey | null;
}

export interface TokenStore {
  read(): Promise<TokenSet | undefined>;
  /** Durable when it resolves: tokens are stored before they are used. */
  write(tokens: TokenSet): Promise<void>;
  delete(): Promise<void>;
}

/** All tokens of a server's entry and a credential. Server names hold no white space. */
export function tokenPrefix(server: string, credential: string): string {
  return `${server} ${credential} `;
}

/** Where the tokens of a connection lie. @param variant of the entry: with another one these are not its tokens any more. */
export function tokenKey(server: string, credential: string, resource: URL, variant: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([resource.href, variant]))
    .digest("base64url");
  return `${tokenPrefix(server, credential)}${digest.slice(0, 22)}`;
}

const VERSION = 1;

export function createTokenStore(documents: SealedDocuments, key: string): TokenStore {
  return {
    async read() {
      const value = await documents.read(key);
      // Written by us alone, under the vault's seal: the version is all that has to be checked.
      return value?.["version"] === VERSION ? (value["tokens"] as unknown as TokenSet) : undefined;
    },
    async write(tokens) {
      const { issuer } = tokens.server;
      await documents.write(
        key,
        { version: VERSION, tokens: tokens as unknown as JsonObject },
        {
          issuer,
          scopes: [...tokens.scopes],
          obtainedAt: tokens.obtainedAt,
          expiresAt: tokens.expiresAt,
          canRefresh: tokens.refreshToken !== null,
        },
      );
    },
    delete: () => documents.delete(key),
  };
}

/** What a set of tokens is about, besides the tokens. */
export type TokenOrigin = Pick<TokenSet, "requested" | "resource" | "server" | "client" | "dpopKey">;

/** Tokens that were just issued. A refresh without a new refresh token keeps the old one (RFC 6749 §6). */
export function toTokenSet(
  issued: IssuedTokens,
  origin: TokenOrigin,
  nowMs: number,
  before?: TokenSet,
): TokenSet {
  return {
    accessToken: issued.accessToken,
    tokenType: issued.tokenType,
    obtainedAt: nowMs,
    expiresAt: issued.expiresIn === null ? null : nowMs + issued.expiresIn * 1_000,
    refreshToken: issued.refreshToken ?? before?.refreshToken ?? null,
    scopes: issued.scopes ?? before?.scopes ?? origin.requested,
    requested: origin.requested,
    resource: origin.resource,
    server: origin.server,
    client: origin.client,
    dpopKey: origin.dpopKey,
  };
}

const MAX_MARGIN_MS = 60_000;

export type Freshness =
  | "good"
  /** Still good, and worth renewing before the next use. */
  | "ageing"
  | "expired";

/** Renewed a tenth of its life before its end, at most a minute before. */
export function judgeFreshness(tokens: Pick<TokenSet, "obtainedAt" | "expiresAt">, nowMs: number): Freshness {
  if (tokens.expiresAt === null) return "good";
  if (nowMs >= tokens.expiresAt) return "expired";
  const lifeMs = Math.max(tokens.expiresAt - tokens.obtainedAt, 0);
  return nowMs >= tokens.expiresAt - Math.min(lifeMs / 10, MAX_MARGIN_MS) ? "ageing" : "good";
}

/** Values that must be shown to nobody. */
export function secretsOf(tokens: TokenSet): readonly string[] {
  const { accessToken, refreshToken, client, dpopKey } = tokens;
  return [accessToken, refreshToken, client.secret, dpopKey?.d ?? null].filter((value) => value !== null);
}
