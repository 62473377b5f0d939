/**
 * Which client we are to an authorization server (client-registration): configured, else a client id metadata document, else
 * dynamic registration (deprecated, last), else a person is asked. A registration belongs to one issuer and one redirect URI.
 */
import * as oauth from "oauth4webapi";
import { isJsonObject, parseJson } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import {
  chooseTokenAuth,
  configuredClient,
  type ClientIdentity,
  type TokenAuthMethod,
} from "./client-identity.ts";
import type { Credentials, Registration } from "./credentials.ts";
import type { AuthHttp } from "./http.ts";
import { fromRefusal, toRefusal } from "./oauth-error.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { AuthSettings } from "./settings.ts";
import { libraryOptions, toLibrary } from "./token-request.ts";

/** How a client id would be come by, in the order of the specification (AUTH-22). Pure. */
export type ClientWay = "configured" | "document" | "registered" | "register" | "ask";

export function chooseClientWay(
  server: AuthServer,
  settings: Pick<AuthSettings, "clientId" | "clientMetadataUrl">,
  known: Registration | undefined,
  now: { readonly redirectUri: string | null; readonly ms: number },
): ClientWay {
  if (settings.clientId !== null) return "configured";
  if (settings.clientMetadataUrl !== null && server.takesMetadataDocuments) return "document";
  if (known !== undefined && isUsable(known, now)) return "registered";
  return server.registrationEndpoint === null ? "ask" : "register";
}

/** A redirect URI that is not settled yet fits any registration. */
function isUsable(
  known: Registration,
  now: { readonly redirectUri: string | null; readonly ms: number },
): boolean {
  if (known.expiresAt !== null && known.expiresAt <= now.ms) return false;
  return now.redirectUri === null || known.redirectUri === now.redirectUri;
}

export interface ClientRequest {
  readonly http: AuthHttp;
  readonly server: AuthServer;
  readonly settings: AuthSettings;
  readonly credentials: Credentials;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly nowMs: number;
  /** Asked where there is no other way; `undefined`: nobody can be asked. */
  readonly askClientId: (() => Promise<string | undefined>) | undefined;
}

/**
 * The client for one authorization request, registered now where that is the way.
 *
 * @throws PortcullisError `auth_failed` where a registration is refused (AUTH-31) or there is no way to a client id.
 */
export async function obtainClient(request: ClientRequest): Promise<ClientIdentity> {
  const { server, settings, credentials, redirectUri } = request;
  const known = await credentials.registration(server.issuer);
  const way = chooseClientWay(server, settings, known, { redirectUri, ms: request.nowMs });
  switch (way) {
    case "configured":
      return configuredClient(settings, server) as ClientIdentity;
    case "document":
      return {
        clientId: settings.clientMetadataUrl as string,
        method: "none",
        secret: null,
        source: "document",
      };
    case "registered":
      return (known as Registration).client;
    case "register": {
      const made = await register(request);
      await credentials.keepRegistration(made);
      return made.client;
    }
    case "ask": {
      const clientId = await request.askClientId?.();
      if (clientId !== undefined && clientId !== "")
        return { clientId, method: "none", secret: null, source: "given" };
      throw new PortcullisError(
        "auth_failed",
        `\`${server.issuer}\` registers no clients by itself: register one there with the redirect URI \`${redirectUri}\` and write its id to \`auth.clientId\``,
      );
    }
  }
}

/** RFC 7591, as a native application on loopback and as a web application elsewhere (AUTH-28, AUTH-29). */
async function register(request: ClientRequest): Promise<Registration> {
  const { http, server, redirectUri, scopes } = request;
  const isNative = new URL(redirectUri).protocol === "http:";
  // A secret on a person's machine is none: a public client where the server lets us, with PKCE either way.
  const offersNone = server.tokenAuthMethods?.includes("none") === true;
  const asked: TokenAuthMethod = offersNone ? "none" : chooseTokenAuth(server, { secret: true, key: false });
  let status: number | null = null;
  try {
    const response = await oauth.dynamicClientRegistrationRequest(
      toLibrary(server),
      {
        client_name: "Portcullis",
        application_type: isNative ? "native" : "web",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: asked,
        ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      },
      libraryOptions(http, server.registrationEndpoint),
    );
    status = response.status;
    return toRegistration(
      await oauth.processDynamicClientRegistrationResponse(await asCreated(response)),
      asked,
      request,
    );
  } catch (cause) {
    throw fromRefusal(toRefusal(cause, status), "the registration of a client", server.issuer);
  }
}

/** Some servers answer 200 where RFC 7591 says 201, and leave out when a secret ends: then it does not. */
async function asCreated(response: Response): Promise<Response> {
  const { headers, status } = response;
  if (status !== 200 && status !== 201) return response;
  const text = await response.text();
  const value = parseJson(text);
  const isLacking =
    isJsonObject(value) &&
    Object.hasOwn(value, "client_secret") &&
    typeof value["client_secret_expires_at"] !== "number";
  return new Response(isLacking ? JSON.stringify({ ...value, client_secret_expires_at: 0 }) : text, {
    status: 201,
    headers,
  });
}

const MAX_CLIENT_ID = 2_048;

/** What of the answer counts: id, secret and method. Redirect URIs that the server would rather have are not ours, and not used. */
function toRegistration(
  answer: oauth.OmitSymbolProperties<oauth.Client>,
  asked: TokenAuthMethod,
  { server, redirectUri }: ClientRequest,
): Registration {
  const secret = typeof answer.client_secret === "string" ? answer.client_secret : null;
  const expiresAt =
    typeof answer["client_secret_expires_at"] === "number" ? answer["client_secret_expires_at"] * 1_000 : 0;
  if (answer.client_id.length > MAX_CLIENT_ID)
    throw new PortcullisError("protocol_error", "the client id is too long");
  const told = answer.token_endpoint_auth_method;
  const known = (["none", "client_secret_basic", "client_secret_post"] as const).find(
    (method) => method === told,
  );
  const method =
    known ??
    (secret === null
      ? "none"
      : asked === "none"
        ? chooseTokenAuth(server, { secret: true, key: false })
        : asked);
  return {
    issuer: server.issuer,
    redirectUri,
    client: {
      clientId: answer.client_id,
      method: secret === null ? "none" : method,
      secret,
      source: "registered",
    },
    expiresAt: secret === null || expiresAt === 0 ? null : expiresAt,
  };
}
