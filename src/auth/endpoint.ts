/**
 * Judges every URL that a server or its metadata names, before anything is sent to it or shown as a link (SEC-07 to SEC-09,
 * SEC-13). An allowlist: https, or http on loopback where the entry allows private addresses; no credentials, no fragment, only
 * the characters of RFC 3986, so that no later reader of the text can see something else in it. Pure. Where the connection
 * really goes is judged once more when it is dialled.
 */
import { isLoopbackName } from "../config/compile-remote.ts";
import { PortcullisError } from "../errors.ts";
import { oneLine } from "../text/clean.ts";

export interface UrlRules {
  /** Plain http is allowed on loopback. */
  readonly allowLoopbackHttp: boolean;
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: string };

const MAX_LENGTH = 2_048;
const RFC_3986 = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

export function evaluateEndpoint(value: unknown, rules: UrlRules): UrlVerdict {
  const no = (reason: string): UrlVerdict => ({ ok: false, reason });
  if (typeof value !== "string" || value === "") return no("is no URL");
  if (value.length > MAX_LENGTH) return no(`is longer than ${MAX_LENGTH} characters`);
  if (!/^https?:\/\//i.test(value)) return no("is no `https://` URL");
  if (!RFC_3986.test(value)) return no("holds characters that no URL may hold");
  const url = URL.parse(value);
  if (url === null) return no("is no URL");
  if (url.username !== "" || url.password !== "") return no("holds a user name or password");
  if (value.includes("#")) return no("holds a fragment");
  if (url.protocol === "https:") return { ok: true, url };
  if (!isLoopbackName(url.hostname)) return no("is plain http");
  if (!rules.allowLoopbackHttp)
    return no("is plain http on this machine, which the entry does not allow (`allowPrivateAddresses`)");
  return { ok: true, url };
}

/**
 * @param field what the URL is, for example `authorization_endpoint`: named in the error.
 * @throws PortcullisError `egress_denied` that names the field and quotes the value, cleaned and cut.
 */
export function demandEndpoint(value: unknown, field: string, rules: UrlRules): URL {
  const verdict = evaluateEndpoint(value, rules);
  if (verdict.ok) return verdict.url;
  throw new PortcullisError("egress_denied", `\`${field}\` ${verdict.reason}: ${quoteValue(value)}`, {
    data: { field, wasSent: false },
  });
}

/** A value of a server for an error message. */
export function quoteValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return `\`${oneLine(text, 120)}\``;
}
