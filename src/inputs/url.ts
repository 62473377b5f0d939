/**
 * An address that a server wants a person to open, judged without touching it (client/elicitation#safe-url-handling): https, or
 * http on this machine where the server's entry allows that; shown in full, with its host in both spellings and what is odd.
 */
import { domainToUnicode } from "node:url";
import { isLoopbackName } from "../config/compile-remote.ts";
import { classifyAddress } from "../egress/address.ts";
import { refusal } from "./refusal.ts";

export interface JudgedUrl {
  readonly url: string;
  readonly host: string;
  readonly unicodeHost: string | null;
  readonly warnings: readonly string[];
}

export interface UrlRules {
  /** The entry says `allowPrivateAddresses`. */
  readonly allowPrivate: boolean;
  /** Where the server itself is reached; `null` for a local one. */
  readonly serverHost: string | null;
}

const MAX_URL = 2_048;

/** @param text untrusted. @throws PortcullisError `input_refused` with what is wrong. */
export function judgeUrl(text: string, { allowPrivate, serverHost }: UrlRules): JudgedUrl {
  if (text.length > MAX_URL) throw refusal(`its address has more than ${MAX_URL} characters`);
  if (!URL.canParse(text)) throw refusal("its address is none");
  const url = new URL(text);
  const host = url.hostname;
  const isHere = isLoopbackName(host);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere && allowPrivate))
    throw refusal(`its address is \`${url.protocol.slice(0, 20)}\`; only https is shown`);
  if (url.username !== "" || url.password !== "")
    throw refusal("its address holds a user name or a password");
  const kind = classifyAddress(host.replaceAll(/^\[|\]$/gu, ""));
  const isPrivate = isHere || (kind !== "invalid" && kind !== "public");
  if (isPrivate && !allowPrivate) throw refusal("its address is on this machine or in a private network");
  const unicode = domainToUnicode(host);
  const warnings: string[] = [];
  if (unicode !== host) {
    warnings.push(
      `the host is written with letters outside of ASCII (\`${host}\`): it may only look like a name that you know`,
    );
  }
  if (hasMixedScripts(unicode)) warnings.push("the host mixes the letters of several scripts");
  if (kind !== "invalid") warnings.push("the host is a bare IP address");
  if (url.port !== "") warnings.push(`the port is unusual: ${url.port}`);
  if (url.href !== text && url.href !== `${text}/`)
    warnings.push("the address was written in another way than the one it leads to, which is shown");
  if (serverHost !== null && !isSameSite(host, serverHost))
    warnings.push(`it does not lead to the server itself (\`${serverHost}\`)`);
  const unicodeHost = unicode === host || unicode === "" ? null : unicode;
  return { url: url.href, host: url.host, unicodeHost, warnings };
}

const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Cherokee}/u,
];

/** Within one label, where each script has its own look-alikes of the others. */
function hasMixedScripts(host: string): boolean {
  return host.split(".").some((label) => SCRIPTS.filter((script) => script.test(label)).length > 1);
}

/** The same host, or one below the other's name. */
function isSameSite(host: string, serverHost: string): boolean {
  return host === serverHost || host.endsWith(`.${serverHost}`) || serverHost.endsWith(`.${host}`);
}
