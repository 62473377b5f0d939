/**
 * Authorization server metadata (RFC 8414, OpenID Connect Discovery): where it may be found, and what of it is believed. Pure.
 *
 * The issuer in the document must be, character for character, the one that the document was asked for (AUTH-11). Every URL in
 * it is judged, also those that are not used, so that a document with one bad URL is no document.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { demandEndpoint, quoteValue, type UrlRules } from "./endpoint.ts";
import { readScopeList } from "./resource.ts";

export interface AuthServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly scopesSupported: readonly string[] | null;
  /** `null`: not said, which means `client_secret_basic` (RFC 8414 §2). */
  readonly tokenAuthMethods: readonly string[] | null;
  readonly takesMetadataDocuments: boolean;
  /** It promises `iss` in authorization responses (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly supportsS256: boolean;
  /** `null`: it does not say that it knows DPoP. */
  readonly dpopAlgorithms: readonly string[] | null;
  /** Nothing was found, and the paths of revision 2025-03-26 are assumed. */
  readonly isAssumed: boolean;
}

/** Where the metadata of `issuer` may be, in the order of asking (AUTH-09, AUTH-10). */
export function serverMetadataUrls(issuer: URL): readonly URL[] {
  const path = issuer.pathname.replace(/\/$/, "");
  const oauth = new URL(`/.well-known/oauth-authorization-server${path}`, issuer.origin);
  const openid = new URL(`/.well-known/openid-configuration${path}`, issuer.origin);
  return path === ""
    ? [oauth, openid]
    : [oauth, openid, new URL(`${path}/.well-known/openid-configuration`, issuer.origin)];
}

/** A server of revision 2025-03-26 that has no metadata at all (AUTH-66). */
export function assumeServer(origin: string): AuthServer {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: null,
    scopesSupported: null,
    tokenAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    takesMetadataDocuments: false,
    sendsIssuer: false,
    // That revision requires PKCE of every server, and there is no document that could say so.
    supportsS256: true,
    dpopAlgorithms: null,
    isAssumed: true,
  };
}

/**
 * What is believed of a metadata document.
 *
 * @throws PortcullisError `auth_failed` where the issuer is another one (both are shown); `egress_denied` that names the
 * field where a URL in it may not be used.
 */
export function judgeServerMetadata(document: JsonObject, issuer: string, rules: UrlRules): AuthServer {
  const named = ownProperty(document, "issuer");
  if (named !== issuer) {
    throw new PortcullisError(
      "auth_failed",
      `\`issuer\` of the authorization server is ${quoteValue(named)}, not \`${issuer}\``,
      { data: { field: "issuer" } },
    );
  }
  const url = (field: string): string => {
    demandEndpoint(ownProperty(document, field), field, rules);
    return ownProperty(document, field) as string;
  };
  const optionalUrl = (field: string): string | null =>
    (ownProperty(document, field) ?? null) === null ? null : url(field);
  optionalUrl("jwks_uri");
  return {
    issuer,
    authorizationEndpoint: optionalUrl("authorization_endpoint"),
    tokenEndpoint: url("token_endpoint"),
    registrationEndpoint: optionalUrl("registration_endpoint"),
    revocationEndpoint: optionalUrl("revocation_endpoint"),
    scopesSupported: readScopeList(ownProperty(document, "scopes_supported")),
    tokenAuthMethods: readNames(ownProperty(document, "token_endpoint_auth_methods_supported")),
    takesMetadataDocuments: ownProperty(document, "client_id_metadata_document_supported") === true,
    sendsIssuer: ownProperty(document, "authorization_response_iss_parameter_supported") === true,
    supportsS256:
      readNames(ownProperty(document, "code_challenge_methods_supported"))?.includes("S256") === true,
    dpopAlgorithms: readNames(ownProperty(document, "dpop_signing_alg_values_supported")),
    isAssumed: false,
  };
}

function readNames(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter((name): name is string => typeof name === "string" && name.length <= 128).slice(0, 64);
}

/** Each endpoint that is asked or opened, with its origin: what a person is shown. */
export function endpointOrigins(
  server: AuthServer,
): readonly { readonly field: string; readonly origin: string }[] {
  const endpoints = {
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    registration_endpoint: server.registrationEndpoint,
    revocation_endpoint: server.revocationEndpoint,
  };
  return Object.entries(endpoints).flatMap(([field, text]) => {
    const origin = text === null ? undefined : URL.parse(text)?.origin;
    return origin === undefined ? [] : [{ field, origin }];
  });
}
