/**
 * Reads `WWW-Authenticate` in every form that servers send (RFC 9110 §11.6.1, RFC 6750 §3, RFC 9728 §5.1, RFC 9449 §7.1):
 * several challenges in one header, quoted and bare values, any case, `token68`, quoted pairs. Pure and linear; what cannot
 * be read ends the reading and is never an error, because a 401 without a usable challenge is still a 401.
 */
import { SCOPE_TOKEN } from "./scopes.ts";

/** One challenge of the header: names in lower case, values unquoted. */
export interface RawChallenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** What a server says about the authorization that it wants. */
export interface Challenge {
  /** `dpop`: the server takes tokens bound to a key (RFC 9449) and no others. */
  readonly scheme: "bearer" | "dpop" | "other";
  /** As written; not judged yet. */
  readonly resourceMetadata: string | null;
  /** Without duplicates, in the order given; `null` where the server named none. */
  readonly scopes: readonly string[] | null;
  /** An OAuth error code, for example `insufficient_scope`; anything else is dropped. */
  readonly error: string | null;
}

const MAX_HEADER = 8_192;
const MAX_CHALLENGES = 16;
const MAX_PARAMETERS = 32;
const MAX_SCOPES = 100;

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const TOKEN68 = /[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))/y;
const BARE_VALUE = /[^\s,"]+/y;
const GAP = /[ \t]*/y;
const SEPARATOR = /[ \t,]*/y;

/** All challenges of a header, in order. */
export function parseChallenges(header: string): readonly RawChallenge[] {
  const text = header.slice(0, MAX_HEADER);
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  while (challenges.length <= MAX_CHALLENGES) {
    take(SEPARATOR);
    const name = take(TOKEN);
    if (name === "") break;
    const afterName = at;
    take(GAP);
    const current = challenges.at(-1);
    if (text[at] === "=" && current !== undefined) {
      at += 1;
      take(GAP);
      const quoted = readQuoted(text, at);
      if (quoted !== undefined) at = quoted.end;
      const value = quoted?.value ?? take(BARE_VALUE);
      const key = name.toLowerCase();
      // The first of two wins: a second one cannot replace what was read.
      if (!current.parameters.has(key) && current.parameters.size < MAX_PARAMETERS)
        current.parameters.set(key, value);
      continue;
    }
    challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    if (at > afterName) take(TOKEN68);
  }
  return challenges.slice(0, MAX_CHALLENGES);
}

function readQuoted(
  text: string,
  start: number,
): { readonly value: string; readonly end: number } | undefined {
  if (text[start] !== '"') return undefined;
  let value = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === '"') return { value, end: at + 1 };
    if (character === "\\") at += 1;
    value += text[at] ?? "";
  }
  return { value, end: text.length };
}

/**
 * What the header asks for: the challenge of a token scheme, one that names its metadata before one that does not.
 *
 * @param header several header lines joined by commas; `undefined` where there is none.
 */
export function readChallenge(header: string | undefined): Challenge {
  const all = parseChallenges(header ?? "");
  const ours = all.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const names = (one: RawChallenge): boolean => one.parameters.has("resource_metadata");
  const chosen = ours.find(names) ?? ours[0] ?? all.find(names);
  const scheme = chosen?.scheme;
  const error = chosen?.parameters.get("error") ?? "";
  return {
    scheme: scheme === "bearer" || scheme === "dpop" ? scheme : "other",
    resourceMetadata: chosen?.parameters.get("resource_metadata") ?? null,
    scopes: readScopes(chosen?.parameters.get("scope")),
    error: /^[a-z_]{1,64}$/.test(error) ? error : null,
  };
}

/** A list of scopes as OAuth writes it; `null` where it holds none. */
export function readScopes(text: string | undefined): readonly string[] | null {
  const scopes = (text ?? "")
    .split(/[ \t]+/)
    .filter((scope) => scope.length <= 256 && SCOPE_TOKEN.test(scope));
  return scopes.length === 0 ? null : [...new Set(scopes)].slice(0, MAX_SCOPES);
}
