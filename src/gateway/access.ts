/**
 * Who may talk to the gateway: pure judgements over a request's head, in this order: Host (DNS rebinding), Origin (other
 * web pages), then the token of the door. The doors have different tokens: what opens `/mcp` opens nothing of the console.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** `mcp`: for agents. `admin`: console and CLI. */
export type Door = "mcp" | "admin";

export interface AccessRules {
  /** `host:port` spellings that reach this listener, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Origins whose pages may talk to it: its own. */
  readonly origins: ReadonlySet<string>;
  readonly tokens: Readonly<Record<Door, string>>;
  /** False only where the operator turned it off for `/mcp` on loopback. */
  readonly requiresToken: Readonly<Record<Door, boolean>>;
}

export type AccessVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly status: 401 | 403 | 421; readonly reason: string };

const ALLOWED: AccessVerdict = { allowed: true };

/** Judges one request's head. */
export function judgeAccess(headers: IncomingHttpHeaders, door: Door, rules: AccessRules): AccessVerdict {
  const { host, origin } = headers;
  if (host === undefined || !rules.hosts.has(host.toLowerCase())) {
    return { allowed: false, status: 421, reason: `this is not \`${(host ?? "").slice(0, 100)}\`` };
  }
  if (origin !== undefined && !rules.origins.has(origin.toLowerCase())) {
    return { allowed: false, status: 403, reason: "pages of another origin may not talk to this gateway" };
  }
  if (!rules.requiresToken[door]) return ALLOWED;
  const given = bearerToken(headers.authorization);
  if (given === undefined || !isSameToken(given, rules.tokens[door])) {
    return { allowed: false, status: 401, reason: given === undefined ? "a token is needed" : "the token is not the one of this door" };
  }
  return ALLOWED;
}

/** RFC 6750 section 2.1; the scheme in any case. */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/iu.exec(authorization ?? "")?.[1];
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function isSameToken(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** What reaches a listener on `host` and `port`: loopback has several names. */
export function namesOf(host: string, port: number): { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> } {
  const isLoopback = host === "127.0.0.1" || host === "::1" || host === "localhost";
  const names = isLoopback ? ["127.0.0.1", "localhost", "[::1]"] : [host.includes(":") ? `[${host}]` : host];
  const hosts = new Set(names.map((name) => `${name}:${port}`.toLowerCase()));
  return { hosts, origins: new Set([...hosts].map((name) => `http://${name}`)) };
}
