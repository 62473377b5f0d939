/**
 * The authorization request and the judgement of its response (RFC 6749 §4.1, RFC 7636, RFC 8707, RFC 9207). Pure but for the
 * random values. Issuer, verifier, state and redirect URI belong together from the first moment (AUTH-39): a response is judged
 * against the very request that it answers, and the code goes nowhere before that.
 */
import * as oauth from "oauth4webapi";
import { PortcullisError } from "../errors.ts";
import { demandEndpoint, quoteValue, type UrlRules } from "./endpoint.ts";
import type { AuthServer } from "./server-metadata.ts";
import { toLibrary } from "./token-request.ts";

export interface AuthorizationRequest {
  /** What the browser opens. */
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** Of the metadata that the request was made by. */
  readonly server: AuthServer;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

export interface AuthorizationInput {
  readonly server: AuthServer;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Empty: the parameter is left out. */
  readonly scopes: readonly string[];
  /** Byte for byte as the metadata says it. */
  readonly resource: string;
  /** Binds the code to the key of the tokens (RFC 9449 §10). */
  readonly dpopThumbprint: string | null;
}

/** @throws PortcullisError `auth_failed` where the server does not say that it supports PKCE with S256 (AUTH-35). */
export function demandPkce(server: AuthServer): void {
  if (server.supportsS256) return;
  throw new PortcullisError(
    "auth_failed",
    `\`code_challenge_methods_supported\` of \`${server.issuer}\` does not hold \`S256\`: without PKCE nothing is asked of it`,
    { data: { field: "code_challenge_methods_supported" } },
  );
}

/** @throws PortcullisError `auth_failed`, `egress_denied` where the server cannot be asked for an authorization. */
export async function createAuthorizationRequest(
  input: AuthorizationInput,
  rules: UrlRules,
): Promise<AuthorizationRequest> {
  const { server, clientId, redirectUri, scopes } = input;
  demandPkce(server);
  // AUTH-37: back to this machine, or to a place that is reached by https.
  demandEndpoint(redirectUri, "redirect_uri", { allowLoopbackHttp: true });
  const url = new URL(demandEndpoint(server.authorizationEndpoint, "authorization_endpoint", rules));
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const query: Readonly<Record<string, string>> = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: input.resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...(input.dpopThumbprint === null ? {} : { dpop_jkt: input.dpopThumbprint }),
    // OpenID Connect Core §11: without it no refresh token comes with this scope.
    ...(scopes.includes("offline_access") ? { prompt: "consent" } : {}),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url, state, verifier, redirectUri, server, clientId, scopes };
}

export type CallbackVerdict =
  /** Somebody else's, or nobody's: not the answer to this request (AUTH-38). */
  | { readonly kind: "foreign" }
  | { readonly kind: "refused"; readonly error: PortcullisError }
  /** `callback` is what `redeemCode` takes. */
  | { readonly kind: "code"; readonly callback: URLSearchParams };

/**
 * What came back to the redirect URI. State first, then the issuer by plain comparison (AUTH-40 to AUTH-45); only then is an
 * error looked at, because on a mismatch nothing in it may be shown (AUTH-46).
 */
export function judgeCallback(query: URLSearchParams, request: AuthorizationRequest): CallbackVerdict {
  const { server } = request;
  const states = query.getAll("state");
  if (states.length !== 1 || states[0] !== request.state) return { kind: "foreign" };
  const issuers = query.getAll("iss");
  if (issuers.length === 0 && server.sendsIssuer)
    return refused(`\`iss\` is missing in the answer, which \`${server.issuer}\` promises to send`, "iss");
  if (issuers.length > 1 || (issuers.length === 1 && issuers[0] !== server.issuer)) {
    return refused(
      `\`iss\` of the answer is ${quoteValue(issuers.join(" "))}, and \`${server.issuer}\` was asked: somebody may have mixed them up`,
      "iss",
    );
  }
  const error = query.get("error");
  if (error !== null) {
    const code = /^[a-z_]{1,64}$/.test(error) ? error : "an error that is not OAuth's";
    return refused(`\`${server.issuer}\` refused the login: \`${code}\``, "error", code);
  }
  try {
    const callback = oauth.validateAuthResponse(
      toLibrary(server),
      { client_id: request.clientId },
      query,
      request.state,
    );
    if (callback.getAll("code").length === 1) return { kind: "code", callback };
  } catch {
    // Said below; the library's error holds the code.
  }
  return refused(`the answer of \`${server.issuer}\` is not one to an authorization request`, "code");
}

function refused(message: string, field: string, oauthError?: string): CallbackVerdict {
  const data = { field, ...(oauthError === undefined ? {} : { oauthError }) };
  return { kind: "refused", error: new PortcullisError("auth_failed", message, { data }) };
}
