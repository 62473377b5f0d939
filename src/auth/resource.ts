/**
 * Protected resource metadata (RFC 9728): where it may be found, and what of it is believed. Pure.
 *
 * The `resource` string is kept as it came and never goes through a URL object on its way out: authorization servers compare
 * it byte for byte (RFC 8707), and `https://host` is not `https://host/` to them.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { readScopes } from "./challenge.ts";
import { evaluateEndpoint, quoteValue, type UrlRules } from "./endpoint.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const MAX_SERVERS = 16;

export interface ResourceFacts {
  /** Byte for byte as the metadata says it; what `resource` is set to in every request. */
  readonly resource: string;
  /** Issuers, as written; at least one. */
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | null;
  /** The resource takes tokens bound to a key only. */
  readonly needsDpop: boolean;
}

/** Where the metadata of `server` may be, in the order of asking: the path form, then the root form (RFC 9728 §3.1). */
export function resourceMetadataUrls(server: URL): readonly URL[] {
  const root = new URL(WELL_KNOWN, server.origin);
  const rest = `${server.pathname === "/" ? "" : server.pathname}${server.search}`;
  return rest === "" ? [root] : [new URL(`${root.href}${rest}`), root];
}

/** The identifier of a server that has no metadata: its URL, without a lone trailing slash (AUTH-49). */
export function canonicalResource(server: URL): string {
  const rest = `${server.pathname === "/" ? "" : server.pathname}${server.search}`;
  return `${server.origin}${rest}`;
}

/** Whether a token for `resource` is meant for `server`: same origin, and the path the same or above (RFC 8707, RFC 9728 §3.3). */
export function isResourceOf(resource: string, server: URL): boolean {
  const named = URL.parse(resource);
  if (named === null || named.origin !== server.origin || resource.includes("#")) return false;
  if (named.search !== "" && named.search !== server.search) return false;
  const path = named.pathname.replace(/\/$/, "");
  return server.pathname === path || server.pathname === `${path}/` || server.pathname.startsWith(`${path}/`);
}

/**
 * What is believed of a metadata document.
 *
 * @throws PortcullisError `auth_failed` where it is of another resource or names no authorization server; `egress_denied`
 * where it names one that may not be asked.
 */
export function judgeResourceMetadata(document: JsonObject, server: URL, rules: UrlRules): ResourceFacts {
  const resource = ownProperty(document, "resource");
  if (
    typeof resource !== "string" ||
    !evaluateEndpoint(resource, rules).ok ||
    !isResourceOf(resource, server)
  ) {
    throw refused(
      "resource",
      `the metadata is of the resource ${quoteValue(resource)}, and the server is \`${canonicalResource(server)}\``,
    );
  }
  const named = ownProperty(document, "authorization_servers");
  if (!Array.isArray(named) || named.length === 0)
    throw refused("authorization_servers", "the metadata of the server names no authorization server");
  const authorizationServers: string[] = [];
  let reason = "";
  for (const issuer of named.slice(0, MAX_SERVERS)) {
    const verdict = evaluateEndpoint(issuer, rules);
    if (verdict.ok) authorizationServers.push(issuer as string);
    else reason ||= `\`authorization_servers\` ${verdict.reason}: ${quoteValue(issuer)}`;
  }
  if (authorizationServers.length === 0)
    throw new PortcullisError("egress_denied", reason, {
      data: { field: "authorization_servers", wasSent: false },
    });
  return {
    resource,
    authorizationServers,
    scopesSupported: readScopeList(ownProperty(document, "scopes_supported")),
    needsDpop: ownProperty(document, "dpop_bound_access_tokens_required") === true,
  };
}

/** A JSON array of scopes; `null` where it is none, or empty. */
export function readScopeList(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return readScopes(value.filter((scope): scope is string => typeof scope === "string").join(" "));
}

function refused(field: string, message: string): PortcullisError {
  return new PortcullisError("auth_failed", message, { data: { field } });
}
