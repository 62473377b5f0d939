/**
 * Who may talk to the gateway: pure judgements over a request's head, in this order: Host (DNS rebinding), Origin (other
 * web pages), then the token of the door. The doors have different tokens: what opens `/mcp` opens nothing of the console.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { hostname, networkInterfaces } from "node:os";

/** `mcp`: for agents. `admin`: console and CLI. */
export type Door = "mcp" | "admin";

export interface AccessRules {
  /** `host:port` spellings that reach this listener, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Origins whose pages may talk to it: its own. */
  readonly origins: ReadonlySet<string>;
  /** `digestToken` of each. */
  readonly tokenDigests: Readonly<Record<Door, Buffer>>;
  /** False only where the operator turned it off for `/mcp` on loopback. */
  readonly requiresToken: Readonly<Record<Door, boolean>>;
}

export type AccessVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly status: 401 | 403 | 421; readonly reason: string };

const ALLOWED: AccessVerdict = { allowed: true };

const WRONG_TOKEN: Readonly<Record<Door, string>> = {
  mcp: "this is not the token of agents, which `portcullis serve` prints",
  admin: "this is not the token of the console, which is in the link that `portcullis serve` prints",
};

/** Judges one request's head. */
export function judgeAccess(headers: IncomingHttpHeaders, door: Door, rules: AccessRules): AccessVerdict {
  const sender = judgeSender(headers, rules);
  if (!sender.allowed || !rules.requiresToken[door]) return sender;
  const given = bearerToken(headers.authorization);
  if (given === undefined || !timingSafeEqual(digestToken(given), rules.tokenDigests[door])) {
    return {
      allowed: false,
      status: 401,
      reason:
        given === undefined ? "a token is needed: the header `Authorization: Bearer …`" : WRONG_TOKEN[door],
    };
  }
  return ALLOWED;
}

/** Host and Origin alone: for what everybody on this machine may see, such as the console's files. */
export function judgeSender(headers: IncomingHttpHeaders, rules: AccessRules): AccessVerdict {
  const { host, origin } = headers;
  if (host === undefined || !rules.hosts.has(host.toLowerCase())) {
    return { allowed: false, status: 421, reason: `this is not \`${(host ?? "").slice(0, 100)}\`` };
  }
  if (origin !== undefined && !rules.origins.has(origin.toLowerCase())) {
    return { allowed: false, status: 403, reason: "pages of another origin may not talk to this gateway" };
  }
  return ALLOWED;
}

/** RFC 6750 section 2.1; the scheme in any case. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/iu.exec(authorization ?? "")?.[1];
}

/** What tokens are compared by, so that neither content nor length shows in the time it takes. */
export function digestToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/u.test(host);
}

/** `host` as it stands in a URL. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const HTTP_PORT = 80;

/** What reaches a listener on `host` and `port`: loopback has several names, and a wildcard has those of the machine. */
export function namesOf(
  host: string,
  port: number,
): { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> } {
  const names = namesReaching(host).map((name) => name.toLowerCase());
  // Browsers and clients leave the default port out.
  const hosts = new Set(
    names.flatMap((name) => (port === HTTP_PORT ? [name, `${name}:${port}`] : [`${name}:${port}`])),
  );
  return { hosts, origins: new Set([...hosts].map((name) => `http://${name}`)) };
}

function namesReaching(host: string): readonly string[] {
  if (isLoopback(host)) return [...new Set([...LOOPBACK_NAMES, inUrl(host)])];
  if (host !== "0.0.0.0" && host !== "::") return [inUrl(host)];
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [...LOOPBACK_NAMES, hostname(), ...addresses.map(({ address }) => inUrl(address))];
}
