/**
 * Tokens that the program gets by itself: client credentials (with a secret or `private_key_jwt`), the JWT of a workload, and
 * an organisation's identity provider (enterprise-managed authorization). The operator names the one authorization server that
 * may see the credentials; the MCP server cannot send them anywhere else (AEXT-06). A refusal is told, never tried in another way
 * (AEXT-15).
 */
import * as oauth from "oauth4webapi";
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Challenge } from "./challenge.ts";
import { configuredClient, secretBasic, type ClientIdentity } from "./client-identity.ts";
import { discover, type Discovery, type Surroundings } from "./discovery.ts";
import { createDpopKey, createDpopProofs, wantsDpop, type DpopKey } from "./dpop.ts";
import { evaluateEndpoint } from "./endpoint.ts";
import { fromRefusal, toRefusal } from "./oauth-error.ts";
import { chooseScopes } from "./scopes.ts";
import { judgeServerMetadata, serverMetadataUrls } from "./server-metadata.ts";
import type { AuthSettings, IdentityProvider } from "./settings.ts";
import {
  libraryOptions,
  requestAsClient,
  requestByAssertion,
  type TokenAnswer,
  type TokenContext,
} from "./token-request.ts";
import { toTokenSet, type TokenSet } from "./tokens.ts";

export interface MachineGrant {
  readonly discovery: Discovery;
  readonly settings: AuthSettings;
  readonly challenge: Challenge;
  /** What is known already: with it nothing is discovered anew. */
  readonly known: TokenSet | undefined;
  /** Asked for before, for the union of a step-up. */
  readonly previous: readonly string[];
  readonly nowMs: number;
}

/** @throws PortcullisError `auth_failed`, `egress_denied`, `config_invalid`, `http_error`, or the signal's reason. */
export async function acquire(grant: MachineGrant): Promise<TokenSet> {
  const { settings, challenge, known } = grant;
  const { resource, server, isDpop } = await surroundings(grant);
  const isStepUp = challenge.error === "insufficient_scope";
  const requested = chooseScopes({
    configured: settings.scopes,
    challenged: challenge.scopes,
    supported: resource.scopesSupported,
    offered: server.scopesSupported,
    previous: grant.previous,
    isStepUp,
    wantsRefresh: false,
  });
  const scopes = known !== undefined && !isStepUp ? known.requested : requested;
  const client = clientOf(settings, server);
  const dpopKey: DpopKey | null = isDpop ? (known?.dpopKey ?? (await createDpopKey())) : null;
  const context: TokenContext = {
    http: grant.discovery.http,
    server,
    client,
    settings,
    resource: resource.resource,
    proofs: dpopKey === null ? null : await createDpopProofs(dpopKey),
  };
  const answer = await ask(context, grant, scopes);
  if (answer.kind === "refused") throw fromRefusal(answer.refusal, "the request for a token", server.issuer);
  return toTokenSet(
    answer.tokens,
    { requested: scopes, resource: resource.resource, server, client: { ...client, secret: null }, dpopKey },
    grant.nowMs,
  );
}

async function surroundings(
  grant: MachineGrant,
): Promise<Pick<Surroundings, "server" | "resource"> & { isDpop: boolean }> {
  const { settings, challenge, known } = grant;
  if (known !== undefined) {
    const resource = {
      resource: known.resource,
      authorizationServers: [],
      scopesSupported: null,
      needsDpop: false,
    };
    return { server: known.server, resource, isDpop: known.dpopKey !== null };
  }
  if (settings.issuer === null)
    throw new PortcullisError(
      "config_invalid",
      "`auth.issuer` is missing: name the authorization server that may see these credentials",
    );
  const found = await discover(grant.discovery, challenge, {
    pinned: settings.issuer,
    known: null,
    mayAssume: true,
  });
  const isDemanded = challenge.scheme === "dpop" || found.resource.needsDpop;
  return { ...found, isDpop: wantsDpop(settings, { isDemanded, server: found.server }) };
}

/** A workload may be known by its assertion alone. */
function clientOf(settings: AuthSettings, server: Surroundings["server"]): ClientIdentity {
  return (
    configuredClient(settings, server) ?? {
      clientId: ANONYMOUS,
      method: "none",
      secret: null,
      source: "configured",
    }
  );
}

const ANONYMOUS = "anonymous";

async function ask(
  context: TokenContext,
  grant: MachineGrant,
  scopes: readonly string[],
): Promise<TokenAnswer> {
  const { settings } = grant;
  switch (settings.grant) {
    case "client_credentials":
      return requestAsClient(context, scopes);
    case "workload_identity": {
      if (settings.assertion === null)
        throw new PortcullisError("config_invalid", "`auth.assertion` is missing");
      return requestByAssertion(context, settings.assertion, scopes, settings.clientId === null);
    }
    case "enterprise": {
      const assertion = await exchangeIdToken(context, grant, scopes);
      return requestByAssertion(context, assertion, scopes);
    }
    case "person":
      throw new PortcullisError("internal", "a person's login was asked of the program");
  }
}

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

/** At the identity provider: an ID token for an assertion that is good at one authorization server, for one resource (AEXT-08). */
async function exchangeIdToken(
  context: TokenContext,
  grant: MachineGrant,
  scopes: readonly string[],
): Promise<string> {
  const { settings } = grant;
  const provider = settings.identityProvider;
  if (provider === null) throw new PortcullisError("config_invalid", "`auth.identityProvider` is missing");
  const tokenEndpoint = await endpointOf(provider, grant.discovery);
  let status: number | null = null;
  let issued: oauth.TokenEndpointResponse;
  try {
    const client = { client_id: provider.clientId };
    const as = { issuer: provider.issuer, token_endpoint: tokenEndpoint };
    const auth = provider.clientSecret === null ? oauth.None() : secretBasic(provider.clientSecret);
    const parameters = {
      requested_token_type: ID_JAG,
      audience: context.server.issuer,
      resource: context.resource,
      subject_token: provider.idToken,
      subject_token_type: ID_TOKEN,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
    const options = libraryOptions(context.http, tokenEndpoint);
    const response = await oauth.genericTokenEndpointRequest(
      as,
      client,
      auth,
      TOKEN_EXCHANGE,
      parameters,
      options,
    );
    status = response.status;
    // RFC 8693 §2.2.1: what comes back is no access token, and its type says so.
    issued = await oauth.processGenericTokenEndpointResponse(as, client, response, {
      recognizedTokenTypes: { n_a: () => undefined },
    });
  } catch (cause) {
    throw fromRefusal(toRefusal(cause, status), "the exchange of the ID token", provider.issuer);
  }
  demandBinding(issued, context);
  return issued.access_token;
}

/** AEXT-10. What the authorization server will check anyway is checked before the assertion is shown to it. */
function demandBinding(
  issued: oauth.TokenEndpointResponse,
  { server, client, resource }: TokenContext,
): void {
  const wrong = (what: string): PortcullisError =>
    new PortcullisError(
      "auth_failed",
      `the identity provider issued an assertion whose \`${what}\` is not the one asked for`,
      {
        data: { field: what },
      },
    );
  if (issued["issued_token_type"] !== ID_JAG) throw wrong("issued_token_type");
  const [header, claims] = issued.access_token.split(".").slice(0, 2).map(decodePart);
  if (header?.["typ"] !== "oauth-id-jag+jwt") throw wrong("typ");
  if (claims === undefined) throw wrong("claims");
  const audience = claims["aud"];
  if (
    audience !== server.issuer &&
    !(Array.isArray(audience) && audience.length === 1 && audience[0] === server.issuer)
  )
    throw wrong("aud");
  if ((claims["client_id"] ?? client.clientId) !== client.clientId) throw wrong("client_id");
  if ((claims["resource"] ?? resource) !== resource) throw wrong("resource");
}

function decodePart(part: string): JsonObject | undefined {
  const value = parseJson(Buffer.from(part, "base64url").toString("utf8"));
  return isJsonObject(value) ? value : undefined;
}

async function endpointOf(provider: IdentityProvider, { http, rules }: Discovery): Promise<string> {
  if (provider.tokenEndpoint !== null) {
    const verdict = evaluateEndpoint(provider.tokenEndpoint, rules);
    if (verdict.ok) return provider.tokenEndpoint;
    throw new PortcullisError("config_invalid", `\`auth.identityProvider.tokenEndpoint\` ${verdict.reason}`);
  }
  const verdict = evaluateEndpoint(provider.issuer, rules);
  if (!verdict.ok)
    throw new PortcullisError("config_invalid", `\`auth.identityProvider.issuer\` ${verdict.reason}`);
  for (const url of serverMetadataUrls(verdict.url)) {
    const answer = await http.getJson(url);
    if (answer.kind === "json")
      return judgeServerMetadata(answer.value, provider.issuer, rules).tokenEndpoint;
  }
  throw new PortcullisError(
    "auth_failed",
    `\`${provider.issuer}\` has no metadata: name \`auth.identityProvider.tokenEndpoint\``,
  );
}
