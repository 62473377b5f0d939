/**
 * Renews the tokens of a person with their refresh token, at the server that issued them and nowhere else. Only `invalid_grant`
 * drops the refresh token (a forgotten client too: the token belongs to it); a server that is down leaves everything as it is.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { Challenge } from "./challenge.ts";
import type { Credentials } from "./credentials.ts";
import { discoverResource, type AcceptOrigins } from "./discovery.ts";
import { createDpopProofs } from "./dpop.ts";
import type { UrlRules } from "./endpoint.ts";
import { withAuthHttp, type AuthHttp, type OpenPort } from "./http.ts";
import { isClientError } from "./login.ts";
import { fromRefusal, type Refusal } from "./oauth-error.ts";
import type { AuthSettings } from "./settings.ts";
import { refreshTokens, type TokenAnswer, type TokenContext } from "./token-request.ts";
import { toTokenSet, type TokenSet, type TokenStore } from "./tokens.ts";

export interface RefreshInput {
  readonly server: URL;
  readonly rules: UrlRules;
  readonly settings: AuthSettings;
  readonly openPort: OpenPort;
  readonly credentials: Credentials;
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly accept: AcceptOrigins;
  /** After a refusal the server's metadata is read again: it may name another authorization server now (AUTH-18). */
  readonly challenge: Challenge | null;
  /** The error that asks for a login, and why. */
  readonly needsLogin: (why: string) => PortcullisError;
}

/** What a failed refresh means for what is stored. Pure. */
export type RefreshVerdict = "later" | "login-keep" | "login-drop" | "client-lost";

export function judgeRefusal(refusal: Refusal): RefreshVerdict {
  if (refusal.isPassing) return "later";
  if (refusal.error === "invalid_grant") return "login-drop";
  return isClientError(refusal.error) ? "client-lost" : "login-keep";
}

/** One more try where the server was down for a moment. */
const SECOND_TRY_MS = 500;

/** @throws PortcullisError `auth_required` by `needsLogin`, `http_error` where it may work later, or the signal's reason. */
export async function refresh(
  input: RefreshInput,
  before: TokenSet | undefined,
  signal: AbortSignal,
): Promise<TokenSet> {
  const { settings, clock } = input;
  if (before === undefined) throw input.needsLogin("nobody has logged in yet");
  const { refreshToken, server } = before;
  if (refreshToken === null) throw input.needsLogin("the last login has ended");
  return withAuthHttp(input, signal, async (http) => {
    if (input.challenge !== null) await demandSameServer(input, http, input.challenge, before);
    const context: TokenContext = {
      http,
      server,
      client: before.client,
      settings,
      resource: before.resource,
      proofs: before.dpopKey === null ? null : await createDpopProofs(before.dpopKey),
    };
    let answer = await refreshTokens(context, refreshToken);
    if (isDown(answer)) {
      await clock.sleep(SECOND_TRY_MS, signal);
      answer = await refreshTokens(context, refreshToken);
    }
    if (answer.kind === "issued") return toTokenSet(answer.tokens, before, clock.now(), before);
    throw await settle(input, before, answer.refusal);
  });
}

function isDown(answer: TokenAnswer): boolean {
  return answer.kind === "refused" && answer.refusal.isPassing && answer.refusal.status !== null;
}

/** Makes what is stored say what is known now. @returns the error to end with. */
async function settle(input: RefreshInput, before: TokenSet, refusal: Refusal): Promise<PortcullisError> {
  const { issuer } = before.server;
  const error = fromRefusal(refusal, "the renewal of the login", issuer);
  switch (judgeRefusal(refusal)) {
    case "later":
      return error;
    case "login-keep":
      return input.needsLogin(error.message);
    case "client-lost": {
      const known = await input.credentials.registration(issuer);
      if (known?.client.clientId === before.client.clientId) await input.credentials.dropRegistration(issuer);
      await input.store.write({ ...before, refreshToken: null });
      return input.needsLogin(error.message);
    }
    case "login-drop":
      await input.store.write({ ...before, refreshToken: null });
      return input.needsLogin(error.message);
  }
}

/** @throws where the resource's metadata is there and does not name the issuer any more; anything else proves nothing. */
async function demandSameServer(
  input: RefreshInput,
  http: AuthHttp,
  challenge: Challenge,
  { server }: TokenSet,
): Promise<void> {
  const { rules, accept } = input;
  let named: readonly string[] | undefined;
  try {
    named = (await discoverResource({ http, rules, server: input.server, accept }, challenge))
      ?.authorizationServers;
  } catch (error) {
    if (!(error instanceof PortcullisError) || error.code === "interrupted") throw error;
  }
  if (named === undefined || named.includes(server.issuer)) return;
  const others = named.map((issuer) => `\`${issuer}\``).join(", ");
  throw input.needsLogin(
    `it names the authorization server ${others} now, and the login was at \`${server.issuer}\``,
  );
}
