/**
 * The requests to a token endpoint and what their answers are: asking by oauth4webapi's request functions, judging by its
 * process functions, as one union. Nothing is stored here and nothing tried again, but for the nonce that DPoP asks for.
 */
import * as oauth from "oauth4webapi";
import { parseJson, isJsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { readScopes } from "./challenge.ts";
import { proveClient, type ClientIdentity } from "./client-identity.ts";
import type { DpopProofs } from "./dpop.ts";
import type { AuthHttp } from "./http.ts";
import { toRefusal, type Refusal } from "./oauth-error.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { AuthSettings } from "./settings.ts";

/** Tokens as they came. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  /** Seconds; `null`: not said. */
  readonly expiresIn: number | null;
  /** `null`: none came, which means nothing for one that is there already. */
  readonly refreshToken: string | null;
  /** What was granted; `null`: what was asked for. */
  readonly scopes: readonly string[] | null;
}

export type TokenAnswer =
  | { readonly kind: "issued"; readonly tokens: IssuedTokens }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** What every request of one client to one server shares. */
export interface TokenContext {
  readonly http: AuthHttp;
  readonly server: AuthServer;
  readonly client: ClientIdentity;
  readonly settings: AuthSettings;
  /** RFC 8707, byte for byte. */
  readonly resource: string;
  readonly proofs: DpopProofs | null;
}

type Ask = (
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  auth: oauth.ClientAuth,
  options: oauth.TokenEndpointRequestOptions,
) => Promise<Response>;
type Judge = (
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  response: Response,
) => Promise<oauth.TokenEndpointResponse>;

/** The library's form of a server. */
export function toLibrary(server: AuthServer): oauth.AuthorizationServer {
  return {
    issuer: server.issuer,
    token_endpoint: server.tokenEndpoint,
    ...(server.authorizationEndpoint === null
      ? {}
      : { authorization_endpoint: server.authorizationEndpoint }),
    ...(server.registrationEndpoint === null ? {} : { registration_endpoint: server.registrationEndpoint }),
    ...(server.revocationEndpoint === null ? {} : { revocation_endpoint: server.revocationEndpoint }),
    authorization_response_iss_parameter_supported: server.sendsIssuer,
  };
}

interface LibraryOptions {
  readonly [oauth.customFetch]: AuthHttp["fetch"];
  readonly [oauth.allowInsecureRequests]: boolean;
  readonly headers: Record<string, string>;
}

/** Options of every request of the library: our port, our name. URLs were judged before, so http means loopback. */
export function libraryOptions(http: AuthHttp, endpoint: string | null): LibraryOptions {
  return {
    [oauth.customFetch]: http.fetch,
    [oauth.allowInsecureRequests]: endpoint?.startsWith("https:") !== true,
    headers: { "user-agent": `portcullis/${VERSION}` },
  };
}

/** Redeems the code of an authorization response that was judged (`authorize.ts`). */
export async function redeemCode(
  context: TokenContext,
  callback: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<TokenAnswer> {
  return request(
    context,
    (as, client, auth, options) =>
      oauth.authorizationCodeGrantRequest(as, client, auth, callback, redirectUri, verifier, options),
    (as, client, response) => oauth.processAuthorizationCodeResponse(as, client, response),
  );
}

export async function refreshTokens(context: TokenContext, refreshToken: string): Promise<TokenAnswer> {
  return request(
    context,
    (as, client, auth, options) => oauth.refreshTokenGrantRequest(as, client, auth, refreshToken, options),
    (as, client, response) => oauth.processRefreshTokenResponse(as, client, response),
  );
}

export async function requestAsClient(
  context: TokenContext,
  scopes: readonly string[],
): Promise<TokenAnswer> {
  return request(
    context,
    (as, client, auth, options) =>
      oauth.clientCredentialsGrantRequest(as, client, auth, whatFor(context, scopes), options),
    (as, client, response) => oauth.processClientCredentialsResponse(as, client, response),
  );
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** RFC 7523 §2.1: a JWT of somebody the server trusts. @param isAnonymous the assertion alone says who we are. */
export async function requestByAssertion(
  context: TokenContext,
  assertion: string,
  scopes: readonly string[],
  isAnonymous = false,
): Promise<TokenAnswer> {
  return request(
    context,
    (as, client, auth, options) => {
      const proof = isAnonymous ? () => undefined : auth;
      return oauth.genericTokenEndpointRequest(
        as,
        client,
        proof,
        JWT_BEARER,
        { assertion, ...whatFor(context, scopes) },
        options,
      );
    },
    (as, client, response) => oauth.processGenericTokenEndpointResponse(as, client, response),
  );
}

/** The library takes `additionalParameters` for codes and refresh tokens alone; other grants bring theirs. */
function whatFor({ resource }: TokenContext, scopes: readonly string[]): Record<string, string> {
  return { resource, ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }) };
}

async function request(context: TokenContext, ask: Ask, judge: Judge): Promise<TokenAnswer> {
  const { http, server, settings, proofs } = context;
  const as = toLibrary(server);
  const { client, auth } = await proveClient(context.client, settings);
  const options: oauth.TokenEndpointRequestOptions = {
    ...libraryOptions(http, server.tokenEndpoint),
    additionalParameters: { resource: context.resource },
    ...(proofs === null ? {} : { DPoP: proofs.handle }),
  };
  for (let isSecond = false; ; isSecond = true) {
    let status: number | null = null;
    try {
      const response = await withoutIdToken(await ask(as, client, auth, options));
      status = response.status;
      return { kind: "issued", tokens: readTokens(await judge(as, client, response)) };
    } catch (cause) {
      if (!isSecond && proofs !== null && oauth.isDPoPNonceError(cause)) continue;
      return { kind: "refused", refusal: toRefusal(cause, status) };
    }
  }
}

/** Nobody asked for an ID token and nobody reads one: a strange one must not spoil the login. */
async function withoutIdToken(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const value = parseJson(await response.clone().text());
  if (!isJsonObject(value) || !Object.hasOwn(value, "id_token")) return response;
  const { id_token: _unread, ...rest } = value;
  return new Response(JSON.stringify(rest), { status: 200, headers: response.headers });
}

/** What a token may be: it travels in a header and lies in the store (RFC 6749 appendix A.12, A.17). */
const TOKEN = /^[\x20-\x7e]{1,16384}$/;
/** Ten years: an end beyond it is none that anybody meets. */
const MAX_LIFE_SECONDS = 315_360_000;

/** @throws where the answer holds something that is no token. */
function readTokens(answer: oauth.TokenEndpointResponse): IssuedTokens {
  const { access_token: accessToken, refresh_token: refreshToken = "-" } = answer;
  if (!TOKEN.test(accessToken) || accessToken.includes(" ") || !TOKEN.test(refreshToken))
    throw new PortcullisError("protocol_error", "the answer holds a token that cannot be used");
  return {
    accessToken,
    tokenType: answer.token_type === "dpop" ? "dpop" : "bearer",
    expiresIn: answer.expires_in === undefined ? null : Math.min(answer.expires_in, MAX_LIFE_SECONDS),
    refreshToken: answer.refresh_token ?? null,
    scopes: readScopes(answer.scope),
  };
}
