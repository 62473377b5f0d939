/** What an entry says about authorization, in the terms of `auth/`: its kind at once, its secrets just before they are used. */
import { PLAIN_SETTINGS, type AuthSettings, type GrantKind } from "../auth/settings.ts";
import { digestJson } from "../base/json.ts";
import type { LateText, ServerConfig } from "../config/compiled.ts";
import { resolveLate, type LateResolver } from "../config/secrets.ts";

/**
 * How tokens for `server` are got; `undefined`: by nobody here. A remote server without `auth` may ask for a person's login, unless
 * its headers hold a token of the operator's own.
 */
export function grantOf({ launch, auth }: ServerConfig): GrantKind | undefined {
  if (launch.kind === "stdio") return undefined;
  if (auth === null) {
    const hasToken = Object.keys(launch.headers).some((name) => name.toLowerCase() === "authorization");
    return hasToken ? undefined : "person";
  }
  switch (auth.type) {
    case "oauth":
      return "person";
    case "client_credentials":
    case "workload_identity":
    case "enterprise":
      return auth.type;
    case "bearer":
    case "none":
      return undefined;
  }
}

/** What tokens of a machine depend on, secrets left out; a person's login outlives a change of its entry. */
export function variantOf(server: ServerConfig): string {
  const { auth } = server;
  if (auth === null || grantOf(server) === "person") return "";
  return digestJson({ ...auth, per: null });
}

/** Extensions of MCP that a way to tokens belongs to, declared on every request (AEXT-01). */
export function authExtensionsOf(server: ServerConfig): readonly string[] {
  switch (grantOf(server)) {
    case "client_credentials":
      return ["io.modelcontextprotocol/oauth-client-credentials"];
    case "enterprise":
      return ["io.modelcontextprotocol/enterprise-managed-authorization"];
    default:
      return [];
  }
}

/**
 * Resolves every reference of `auth`.
 *
 * @param onSecrets told of the values that references gave, before they are used.
 * @throws PortcullisError `secret_unresolved` that names the reference; the signal's reason.
 */
export async function resolveAuth(
  server: ServerConfig,
  grant: GrantKind,
  resolver: LateResolver,
  onSecrets: (secrets: readonly string[]) => void,
  signal: AbortSignal,
): Promise<AuthSettings> {
  const { auth } = server;
  if (auth === null) return { ...PLAIN_SETTINGS, grant };
  const resolve = async (late: LateText, key: string): Promise<string> => {
    const { value, secrets } = await resolveLate(
      late,
      resolver,
      `mcpServers.${server.name}.auth.${key}`,
      signal,
    );
    onSecrets(secrets);
    return value;
  };
  const optional = async (late: LateText | null, key: string): Promise<string | null> =>
    late === null ? null : resolve(late, key);
  const provider = auth.identityProvider;
  return {
    grant,
    scopes: auth.scopes,
    issuer: auth.issuer,
    clientId: await optional(auth.clientId, "clientId"),
    clientSecret: await optional(auth.clientSecret, "clientSecret"),
    privateKey: await optional(auth.privateKey, "privateKey"),
    clientMetadataUrl: auth.clientMetadataUrl,
    redirectUri: auth.redirectUri,
    dpop: auth.dpop,
    assertion: await optional(auth.assertion, "assertion"),
    identityProvider:
      provider === null
        ? null
        : {
            issuer: provider.issuer,
            tokenEndpoint: provider.tokenEndpoint,
            clientId: await resolve(provider.clientId, "identityProvider.clientId"),
            clientSecret: await optional(provider.clientSecret, "identityProvider.clientSecret"),
            idToken: await resolve(provider.idToken, "identityProvider.idToken"),
          },
  };
}
