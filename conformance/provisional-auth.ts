/**
 * PROVISIONAL: just enough of the authorization profile to let the `auth/*` scenarios judge the client's wire. Nothing here is
 * reached by the package; the real profile belongs to `src/auth/`.
 *
 * There is no browser in the suite: the authorization URL is fetched, and the answer read from `Location`.
 */
import * as oauth from "oauth4webapi";
import type { JsonObject } from "../src/base/json.ts";
import type { UnauthorizedHook } from "../src/client/options.ts";

const REDIRECT_URI = "http://localhost:3000/callback";
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
const MAX_ATTEMPTS = 3;
/** The suite's servers are plain http on loopback. */
const insecure = { [oauth.allowInsecureRequests]: true };

interface Challenge {
  readonly metadataUrl: string | undefined;
  readonly scope: string | undefined;
}

interface ResourceMetadata {
  readonly resource?: string;
  readonly authorization_servers?: readonly string[];
  readonly scopes_supported?: readonly string[];
}

interface Registration {
  readonly client: oauth.Client;
  readonly clientAuth: oauth.ClientAuth;
}

export interface ProvisionalAuth {
  headers(): Readonly<Record<string, string>>;
  readonly onUnauthorized: UnauthorizedHook;
}

export function createProvisionalAuth(options: {
  readonly url: URL;
  readonly revision: string;
  readonly context: JsonObject;
}): ProvisionalAuth {
  const { url, revision, context } = options;
  /** By issuer: credentials of one authorization server are never shown to another. */
  const registrations = new Map<string, Registration>();
  const scopes = new Set<string>();
  let token: string | undefined;
  let attempts = 0;

  const register = async (as: oauth.AuthorizationServer): Promise<Registration> => {
    const known = registrations.get(as.issuer);
    if (known !== undefined) return known;
    const fresh = await newRegistration(as, context);
    registrations.set(as.issuer, fresh);
    return fresh;
  };

  return {
    headers: () => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
    async onUnauthorized(error) {
      attempts += 1;
      if (attempts > MAX_ATTEMPTS) return undefined;
      const challenge = readChallenge(error.data["wwwAuthenticate"]);
      const resource = await discoverResource(url, challenge, revision);
      const issuer = new URL(resource?.authorization_servers?.[0] ?? url.origin);
      const as = await discoverServer(issuer, resource === undefined);
      const wanted = challenge.scope ?? resource?.scopes_supported?.join(" ");
      for (const scope of wanted?.split(" ") ?? []) scopes.add(scope);
      const asked = new Set(scopes);
      if (as.scopes_supported?.includes("offline_access") === true) asked.add("offline_access");
      token = await authorize(as, await register(as), [...asked].join(" "), resource?.resource);
      return {};
    },
  };
}

function readChallenge(header: unknown): Challenge {
  const text = typeof header === "string" ? header : "";
  const value = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  return { metadataUrl: value("resource_metadata"), scope: value("scope") };
}

async function getJson(url: URL | string): Promise<unknown> {
  const response = await fetch(url, { redirect: "manual", headers: { accept: "application/json" } });
  return response.status === 200 ? response.json() : undefined;
}

/** `undefined`: the server has none, as before 2025-06-18. @throws where the metadata is another resource's. */
async function discoverResource(
  url: URL,
  challenge: Challenge,
  revision: string,
): Promise<ResourceMetadata | undefined> {
  const wellKnown = new URL("/.well-known/oauth-protected-resource", url);
  const places =
    challenge.metadataUrl === undefined
      ? [`${wellKnown.href}${url.pathname}`, wellKnown.href]
      : [challenge.metadataUrl];
  for (const place of places) {
    const metadata = (await getJson(place)) as ResourceMetadata | undefined;
    if (metadata === undefined) continue;
    const resource = new URL(metadata.resource ?? "");
    if (resource.origin !== url.origin || !url.pathname.startsWith(resource.pathname)) {
      throw new Error(`the metadata is of another resource: ${resource.href}`);
    }
    return metadata;
  }
  if (revision > "2025-03-26") throw new Error("the server has no protected resource metadata");
  return undefined;
}

async function discoverServer(issuer: URL, mayGuess: boolean): Promise<oauth.AuthorizationServer> {
  const path = issuer.pathname === "/" ? "" : issuer.pathname;
  const places = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const response = await fetch(new URL(place, issuer), { redirect: "manual" });
    if (response.status !== 200) continue;
    const as = await oauth.processDiscoveryResponse(issuer, response);
    if (as.code_challenge_methods_supported?.includes("S256") !== true)
      throw new Error("the authorization server has no PKCE");
    return as;
  }
  if (!mayGuess) throw new Error(`no metadata of the authorization server ${issuer.href}`);
  const at = (name: string): string => new URL(name, issuer).href;
  return {
    issuer: issuer.href,
    authorization_endpoint: at("/authorize"),
    token_endpoint: at("/token"),
    registration_endpoint: at("/register"),
  };
}

async function newRegistration(as: oauth.AuthorizationServer, context: JsonObject): Promise<Registration> {
  const { client_id: id, client_secret: secret } = context;
  if (typeof id === "string")
    return registration(as, {
      client_id: id,
      ...(typeof secret === "string" ? { client_secret: secret } : {}),
    });
  if (as["client_id_metadata_document_supported"] === true)
    return registration(as, { client_id: CLIENT_METADATA_URL });
  const response = await oauth.dynamicClientRegistrationRequest(
    as,
    {
      client_name: "portcullis-conformance",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      token_endpoint_auth_method: pickAuthMethod(as, true),
    },
    insecure,
  );
  // Read leniently: the suite's servers leave `client_secret_expires_at` out, which RFC 7591 asks for.
  if (!response.ok) throw new Error(`the registration was refused: status ${response.status}`);
  return registration(as, (await response.json()) as oauth.Client);
}

function pickAuthMethod(as: oauth.AuthorizationServer, hasSecret: boolean): string {
  const offered = as.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const usable = hasSecret ? ["client_secret_basic", "client_secret_post", "none"] : ["none"];
  return usable.find((method) => offered.includes(method)) ?? "none";
}

function registration(as: oauth.AuthorizationServer, client: oauth.Client): Registration {
  const secret = client.client_secret;
  if (typeof secret !== "string") return { client, clientAuth: oauth.None() };
  const method = client.token_endpoint_auth_method ?? pickAuthMethod(as, true);
  if (method === "client_secret_basic") return { client, clientAuth: basic(secret) };
  return {
    client,
    clientAuth: method === "client_secret_post" ? oauth.ClientSecretPost(secret) : oauth.None(),
  };
}

/** As `oauth.ClientSecretBasic`, but it leaves `-` as it is: the suite's servers compare without decoding. */
function basic(secret: string): oauth.ClientAuth {
  return (_as, client, _body, headers) => {
    const pair = `${encodeURIComponent(client.client_id)}:${encodeURIComponent(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
}

/** The authorization code flow with PKCE. @returns an access token. */
async function authorize(
  as: oauth.AuthorizationServer,
  { client, clientAuth }: Registration,
  scope: string,
  resource: string | undefined,
): Promise<string> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const bound = resource === undefined ? {} : { resource };
  const target = new URL(as.authorization_endpoint ?? "");
  const query = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(scope === "" ? {} : { scope }),
    ...bound,
  };
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  const redirect = await fetch(target, { redirect: "manual" });
  const answer = oauth.validateAuthResponse(
    as,
    client,
    new URL(redirect.headers.get("location") ?? ""),
    state,
  );
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    clientAuth,
    answer,
    REDIRECT_URI,
    verifier,
    {
      ...insecure,
      additionalParameters: bound,
    },
  );
  return (await oauth.processAuthorizationCodeResponse(as, client, response)).access_token;
}
