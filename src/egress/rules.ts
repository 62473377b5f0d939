/**
 * Where bytes may go, as pure decisions: no rule means no. A URL is judged before any name is resolved, every address
 * again before it is connected to, and request headers before they are given to an origin (SSRF and token leaks: MCP
 * security best practices, SEC-01 to SEC-06, SEC-13).
 */
import type { AddressClass } from "./address.ts";
import { classifyAddress } from "./address.ts";

export interface EgressRules {
  /** Origins that were configured (`https://host`, `http://127.0.0.1:8080`): reachable, and the only ones that may get secrets. */
  readonly origins: readonly string[];
  /**
   * Hosts reachable without secrets: `api.example.com`, `*.example.com` (any depth, not `example.com` itself), each with
   * `:port` where it is not the scheme's own. A wildcard never matches an IP address.
   */
  readonly allow: readonly string[];
  /** Also permits private, loopback, link-local and CGNAT addresses, and plain http, but that to loopback only. */
  readonly allowPrivateAddresses: boolean;
}

export type EgressDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string };

const ALLOWED: EgressDecision = { allowed: true };

function denied(reason: string): EgressDecision {
  return { allowed: false, reason };
}

/** Header names that carry no secret; anything else goes to configured origins alone. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "content-type",
  "if-modified-since",
  "if-none-match",
  "mcp-protocol-version",
  "user-agent",
]);

const REACHABLE_WHEN_PRIVATE: ReadonlySet<AddressClass> = new Set([
  "loopback",
  "private",
  "link-local",
  "cgnat",
]);

/** The host and port of `url` as an allow list spells them: lower case, no trailing dot, the scheme's port filled in. */
function placeOf(url: URL): { readonly host: string; readonly port: string; readonly ownPort: string } {
  const ownPort = url.protocol === "https:" ? "443" : "80";
  return { host: url.hostname.replace(/\.$/, ""), port: url.port === "" ? ownPort : url.port, ownPort };
}

/** True where `pattern` of an allow list names the host and port of `url`. */
export function matchesHost(pattern: string, url: URL): boolean {
  const { host, port, ownPort } = placeOf(url);
  const parts = /^(?<name>\[[^\]]*\]|[^:]*)(?::(?<port>\d{1,5}))?$/.exec(pattern.trim().toLowerCase());
  const name = parts?.groups?.["name"];
  if (name === undefined || name === "") return false;
  if ((parts?.groups?.["port"] ?? ownPort) !== port) return false;
  if (!name.startsWith("*.")) return name.replace(/\.$/, "") === host;
  if (host.startsWith("[") || classifyAddress(host) !== "invalid") return false;
  // A wildcard over a whole top-level domain is not a rule but a hole.
  const suffix = name.slice(1);
  return suffix.lastIndexOf(".") > 0 && host.endsWith(suffix) && host.length > suffix.length;
}

/** May `url` be asked at all? Judged before a name is resolved. */
export function evaluateUrl(url: URL, rules: EgressRules): EgressDecision {
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return denied(`the scheme \`${url.protocol}\` is not allowed, only https`);
  }
  if (url.username !== "" || url.password !== "")
    return denied("a URL with a user name or password is not allowed");
  if (url.protocol === "http:" && !rules.allowPrivateAddresses) {
    return denied(
      "plain http is not allowed; use https, or set `allowPrivateAddresses` for a server on this machine",
    );
  }
  if (isConfiguredOrigin(url, rules)) return ALLOWED;
  if (rules.allow.some((pattern) => matchesHost(pattern, url))) return ALLOWED;
  return denied(`\`${url.host}\` is neither the configured host nor in \`egress.allow\``);
}

/** May a socket be opened to `address` for `url`? Judged for every answer of the resolver, and for the peer after the connect. */
export function evaluateAddress(address: string, url: URL, rules: EgressRules): EgressDecision {
  const kind = classifyAddress(address);
  const shown = `\`${url.hostname}\` is at \`${address}\``;
  if (url.protocol === "http:" && kind !== "loopback") {
    return denied(`${shown}, and plain http is allowed to this machine only`);
  }
  if (kind === "public" || kind === "nat64") return ALLOWED;
  if (!REACHABLE_WHEN_PRIVATE.has(kind))
    return denied(`${shown}, an address of the kind ${kind}, which is never allowed`);
  if (rules.allowPrivateAddresses) return ALLOWED;
  return denied(
    `${shown}, an address of the kind ${kind}; set \`allowPrivateAddresses\` for this server if it is meant`,
  );
}

/** May a request with these headers go to `url`? Secrets go to configured origins alone, whatever the header is called. */
export function evaluateHeaders(names: readonly string[], url: URL, rules: EgressRules): EgressDecision {
  if (isConfiguredOrigin(url, rules)) return ALLOWED;
  const secret = names.find((name) => !PUBLIC_HEADERS.has(name.toLowerCase()));
  if (secret === undefined) return ALLOWED;
  return denied(`the header \`${secret}\` may go to the configured host only, not to \`${url.host}\``);
}

/** True for an origin that may get secrets. */
export function isConfiguredOrigin(url: URL, rules: EgressRules): boolean {
  return rules.origins.includes(url.origin);
}
