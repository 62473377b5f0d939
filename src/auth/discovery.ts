/**
 * Finds the resource's metadata and its authorization server: the order of the specification, one form after another; a miss
 * of any kind (404, a page, 5xx, another issuer) leads to the next one, and the error names every URL that was tried. What a
 * server names outside its own origin is asked only where that origin was accepted (SEC-01, FC-78).
 */
import { PortcullisError } from "../errors.ts";
import type { Challenge } from "./challenge.ts";
import { demandEndpoint, type UrlRules } from "./endpoint.ts";
import type { AuthHttp, JsonAnswer } from "./http.ts";
import {
  canonicalResource,
  judgeResourceMetadata,
  resourceMetadataUrls,
  type ResourceFacts,
} from "./resource.ts";
import {
  assumeServer,
  endpointOrigins,
  judgeServerMetadata,
  serverMetadataUrls,
  type AuthServer,
} from "./server-metadata.ts";

/** An origin that a server or its metadata names, and as what. */
export interface NamedOrigin {
  readonly field: string;
  readonly origin: string;
}

/** May these origins be contacted? @throws PortcullisError `egress_denied` where not. */
export type AcceptOrigins = (named: readonly NamedOrigin[]) => Promise<void>;

export interface Discovery {
  readonly http: AuthHttp;
  readonly rules: UrlRules;
  /** The MCP server. */
  readonly server: URL;
  readonly accept: AcceptOrigins;
}

/**
 * The metadata of the resource; `undefined` where the server has none anywhere, as before revision 2025-06-18.
 *
 * @throws PortcullisError `egress_denied`, `auth_failed`, `http_error` where it cannot be told now.
 */
export async function discoverResource(
  { http, rules, server, accept }: Discovery,
  challenge: Challenge,
): Promise<ResourceFacts | undefined> {
  const tried: [URL, JsonAnswer][] = [];
  const places = [...resourceMetadataUrls(server)];
  if (challenge.resourceMetadata !== null) {
    const named = demandEndpoint(challenge.resourceMetadata, "resource_metadata", rules);
    if (named.origin !== server.origin) await accept([{ field: "resource_metadata", origin: named.origin }]);
    places.unshift(named);
  }
  for (const url of places) {
    if (tried.some(([before]) => before.href === url.href)) continue;
    const answer = await http.getJson(url);
    if (answer.kind === "json") return judgeResourceMetadata(answer.value, server, rules);
    tried.push([url, answer]);
  }
  if (tried.some(([, answer]) => answer.kind === "miss" && answer.isDown))
    throw noMetadata("protected resource metadata", tried);
  return undefined;
}

/**
 * Which of the named authorization servers to use: the pinned one, else one used before, else the first (RFC 9728 §7.6).
 *
 * @throws PortcullisError `auth_failed` where the pinned one is not among them (AUTH-20).
 */
export function chooseIssuer(named: readonly string[], pinned: string | null, known: string | null): string {
  if (pinned !== null) {
    if (named.includes(pinned)) return pinned;
    throw new PortcullisError(
      "auth_failed",
      `the server names the authorization server ${named.map((one) => `\`${one}\``).join(", ")}; \`auth.issuer\` is \`${pinned}\``,
      { data: { field: "authorization_servers" } },
    );
  }
  return known !== null && named.includes(known) ? known : (named[0] ?? "");
}

/**
 * The metadata of one authorization server, each of its endpoints on an accepted origin.
 *
 * @throws PortcullisError `auth_failed` with every URL tried, `egress_denied`, `http_error` where it cannot be told now.
 */
async function discoverServer({ http, rules, accept }: Discovery, issuer: string): Promise<AuthServer> {
  const url = demandEndpoint(issuer, "authorization_servers", rules);
  await accept([{ field: "authorization_servers", origin: url.origin }]);
  const found = await findServer(http, rules, issuer, url);
  if (found.kind === "missing") throw found.error;
  await accept(endpointOrigins(found.server));
  return found.server;
}

/**
 * The authorization server of a resource without metadata: at the server's own origin, by metadata or by assumption (AUTH-66).
 *
 * @param mayAssume the server did ask for authorization: without that there is no reason to assume anything.
 */
async function discoverLegacyServer(
  { http, rules, server, accept }: Discovery,
  mayAssume: boolean,
): Promise<AuthServer> {
  const found = await findServer(http, rules, server.origin, new URL(server.origin));
  // Nothing at all is what revision 2025-03-26 allows for; something that is wrong is not.
  if (found.kind === "missing" && (!found.isAbsent || !mayAssume)) throw found.error;
  const known = found.kind === "found" ? found.server : assumeServer(server.origin);
  await accept(endpointOrigins(known));
  return known;
}

type Found =
  | { readonly kind: "found"; readonly server: AuthServer }
  | { readonly kind: "missing"; readonly error: PortcullisError; readonly isAbsent: boolean };

async function findServer(http: AuthHttp, rules: UrlRules, issuer: string, url: URL): Promise<Found> {
  const tried: [URL, JsonAnswer][] = [];
  let mismatch: PortcullisError | undefined;
  for (const place of serverMetadataUrls(url)) {
    const answer = await http.getJson(place);
    tried.push([place, answer]);
    if (answer.kind === "miss") continue;
    try {
      return { kind: "found", server: judgeServerMetadata(answer.value, issuer, rules) };
    } catch (error) {
      // A document of another issuer says nothing about this one; a bad URL in the right one does.
      if (!(error instanceof PortcullisError) || error.code !== "auth_failed") throw error;
      mismatch ??= error;
    }
  }
  const isAbsent =
    mismatch === undefined && !tried.some(([, answer]) => answer.kind === "miss" && answer.isDown);
  return { kind: "missing", error: mismatch ?? noMetadata("authorization server metadata", tried), isAbsent };
}

function noMetadata(what: string, tried: readonly (readonly [URL, JsonAnswer])[]): PortcullisError {
  const isDown = tried.some(([, answer]) => answer.kind === "miss" && answer.isDown);
  const list = tried.map(
    ([url, answer]) => `\`${url.href}\` ${answer.kind === "miss" ? answer.reason : "is not usable"}`,
  );
  return new PortcullisError(isDown ? "http_error" : "auth_failed", `no ${what}: ${list.join("; ")}`, {
    data: { tried: tried.map(([url]) => url.href), provesNoEffect: true, wasSent: false },
  });
}

/** What a login or a grant is about. */
export interface Surroundings {
  readonly resource: ResourceFacts;
  readonly server: AuthServer;
  /** Revision 2025-03-26: no metadata of the resource. */
  readonly isLegacy: boolean;
}

/** Resource and authorization server in one go. @throws PortcullisError as the parts do. */
export async function discover(
  discovery: Discovery,
  challenge: Challenge,
  choice: { readonly pinned: string | null; readonly known: string | null; readonly mayAssume: boolean },
): Promise<Surroundings> {
  const resource = await discoverResource(discovery, challenge);
  if (resource !== undefined) {
    const issuer = chooseIssuer(resource.authorizationServers, choice.pinned, choice.known);
    return { resource, server: await discoverServer(discovery, issuer), isLegacy: false };
  }
  const { origin } = discovery.server;
  chooseIssuer([origin], choice.pinned, null);
  const server = await discoverLegacyServer(discovery, choice.mayAssume);
  return {
    resource: {
      resource: canonicalResource(discovery.server),
      authorizationServers: [origin],
      scopesSupported: null,
      needsDpop: false,
    },
    server,
    isLegacy: true,
  };
}
