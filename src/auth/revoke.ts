/** Tells the authorization server that tokens are not wanted any more (RFC 7009): best effort, at the end of a login. */
import * as oauth from "oauth4webapi";
import { proveClient } from "./client-identity.ts";
import { withAuthHttp, type NetAccess } from "./http.ts";
import type { AuthSettings } from "./settings.ts";
import { libraryOptions, toLibrary } from "./token-request.ts";
import type { TokenSet } from "./tokens.ts";

/** `impossible`: the server has no way to be told. */
export type Revocation = "revoked" | "impossible" | "failed";

/** The refresh token first: most servers end everything with it. Never throws but for the signal. */
export async function revoke(
  tokens: TokenSet,
  settings: AuthSettings,
  access: NetAccess,
  signal: AbortSignal,
): Promise<Revocation> {
  const { server, refreshToken, accessToken } = tokens;
  if (server.revocationEndpoint === null) return "impossible";
  return withAuthHttp(access, signal, async (http) => {
    const as = toLibrary(server);
    let outcome: Revocation = "revoked";
    for (const [hint, token] of [
      ["refresh_token", refreshToken],
      ["access_token", accessToken],
    ] as const) {
      if (token === null) continue;
      try {
        const { client, auth } = await proveClient(tokens.client, settings);
        const options = {
          ...libraryOptions(http, server.revocationEndpoint),
          additionalParameters: { token_type_hint: hint },
        };
        await oauth.processRevocationResponse(
          await oauth.revocationRequest(as, client, auth, token, options),
        );
      } catch {
        if (signal.aborted) throw signal.reason;
        outcome = "failed";
      }
    }
    return outcome;
  });
}
