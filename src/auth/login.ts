/**
 * A login: a person sees where it goes and what for, agrees, authorizes in a browser, and the tokens are stored. Every step that
 * needs the person goes through `Interaction`, so that a terminal, a console and a program can each do it their way.
 *
 * Invariants: nothing outside the server's own origin is contacted, and no browser opened, before the person has seen and
 * accepted where; credentials of one issuer are never shown to another; the tokens are on disk before the login has succeeded.
 */
import type { Clock } from "../base/clock.ts";
import { linkAbort } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import {
  createAuthorizationRequest,
  demandPkce,
  judgeCallback,
  type AuthorizationRequest,
} from "./authorize.ts";
import type { CallbackReceiver } from "./callback.ts";
import type { Challenge } from "./challenge.ts";
import type { ClientIdentity } from "./client-identity.ts";
import type { Acceptance, Credentials, Registration } from "./credentials.ts";
import { discover, type AcceptOrigins, type NamedOrigin, type Surroundings } from "./discovery.ts";
import { createDpopKey, createDpopProofs, wantsDpop, type DpopKey, type DpopProofs } from "./dpop.ts";
import { demandEndpoint, type UrlRules } from "./endpoint.ts";
import { withAuthHttp, type AuthHttp, type OpenPort } from "./http.ts";
import { fromRefusal } from "./oauth-error.ts";
import { obtainClient } from "./registration.ts";
import { chooseScopes } from "./scopes.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { AuthSettings } from "./settings.ts";
import { redeemCode } from "./token-request.ts";
import { toTokenSet, type TokenSet } from "./tokens.ts";

/** What a person is asked to agree to. Texts of servers in it are URLs that were judged, and scopes. */
export type LoginQuestion =
  /** Before anything outside the server's own origin is contacted. */
  | { readonly kind: "contact"; readonly named: readonly NamedOrigin[] }
  /** Before the browser opens. */
  | {
      readonly kind: "authorize";
      /** What the token will be for. */
      readonly resource: string;
      readonly issuer: string;
      /** Every endpoint with its origin. */
      readonly endpoints: readonly NamedOrigin[];
      /** Empty: the server's default. */
      readonly scopes: readonly string[];
    };

export interface WantedRedirect {
  readonly uri: string;
  /** The operator wrote it; otherwise a registration was made with it, and another one means another registration. */
  readonly isFixed: boolean;
}

export interface Interaction {
  /** Anything but a clear yes is no. */
  confirm(question: LoginQuestion, signal: AbortSignal): Promise<boolean>;
  /** @param wanted the redirect URI to use; `null`: any of this machine. */
  openReceiver(wanted: WantedRedirect | null, signal: AbortSignal): Promise<CallbackReceiver>;
  /** Opens or shows the URL: https, or http on loopback. */
  show(url: URL, signal: AbortSignal): Promise<void>;
  /** A client id where the authorization server gives none by itself. */
  readonly askClientId?: (
    issuer: string,
    redirectUri: string,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
}

export interface LoginInput {
  readonly server: URL;
  readonly rules: UrlRules;
  readonly settings: AuthSettings;
  readonly challenge: Challenge;
  /** The server did ask for authorization. */
  readonly wasRefused: boolean;
  readonly openPort: OpenPort;
  readonly credentials: Credentials;
  /** What is stored now. */
  readonly before: TokenSet | undefined;
  readonly clock: Clock;
  readonly interaction: Interaction;
  /** How long an answer from the browser is waited for; default 10 minutes. */
  readonly answerMs?: number;
}

const ANSWER_MS = 600_000;

/**
 * @returns the tokens, not stored yet.
 * @throws PortcullisError `cancelled` where the person said no, `auth_failed`, `egress_denied`, `timed_out`, `http_error`; or the
 * signal's reason.
 */
export async function logIn(input: LoginInput, signal: AbortSignal): Promise<TokenSet> {
  return withAuthHttp(input, signal, async (http) => {
    const accepted = await input.credentials.acceptance();
    const agreed = new Set([input.server.origin, ...accepted.origins]);
    const accept = createAccept(input, agreed, signal);
    const { server: url, rules, settings, before } = input;
    const found = await discover({ http, rules, server: url, accept }, input.challenge, {
      pinned: settings.issuer,
      known: before?.server.issuer ?? null,
      mayAssume: input.wasRefused,
    });
    demandPkce(found.server);
    demandSameIssuer(settings, accepted, found.server);
    const plan = await planLogin(input, http, found);
    const question = {
      kind: "authorize",
      resource: found.resource.resource,
      issuer: found.server.issuer,
      endpoints: endpointsOf(found.server, rules),
      scopes: plan.scopes,
    } as const;
    if (!(await input.interaction.confirm(question, signal))) throw declined();
    await input.credentials.keepAcceptance({
      origins: [...agreed],
      issuer: settings.clientId === null ? accepted.issuer : found.server.issuer,
    });
    return authorizeOnce(plan, signal, true);
  });
}

/** Asks once for each origin that is new; a yes counts for the rest of the login and is remembered at its end. */
function createAccept({ interaction }: LoginInput, agreed: Set<string>, signal: AbortSignal): AcceptOrigins {
  return async (named) => {
    const fresh = named.filter(({ origin }) => !agreed.has(origin));
    if (fresh.length === 0) return;
    if (!(await interaction.confirm({ kind: "contact", named: fresh }, signal))) {
      const list = fresh.map(({ field, origin }) => `\`${field}\` is on \`${origin}\``);
      throw new PortcullisError("egress_denied", `not accepted: ${list.join(", ")}`, {
        data: { field: fresh[0]?.field ?? "", origin: fresh[0]?.origin ?? "", wasSent: false },
      });
    }
    for (const { origin } of fresh) agreed.add(origin);
  };
}

function declined(): PortcullisError {
  return new PortcullisError("cancelled", "the login was not agreed to");
}

/** Configured credentials belong to the issuer that they were first used with (AUTH-17, AUTH-20). */
function demandSameIssuer(settings: AuthSettings, accepted: Acceptance, server: AuthServer): void {
  if (settings.clientId === null || settings.issuer !== null || accepted.issuer === null) return;
  if (accepted.issuer === server.issuer) return;
  throw new PortcullisError(
    "auth_failed",
    `\`auth.clientId\` belongs to \`${accepted.issuer}\`, and the server names \`${server.issuer}\` now: if that is right, write it to \`auth.issuer\``,
    { data: { field: "issuer" } },
  );
}

function endpointsOf(server: AuthServer, rules: UrlRules): readonly NamedOrigin[] {
  const authorization = demandEndpoint(server.authorizationEndpoint, "authorization_endpoint", rules);
  const token = demandEndpoint(server.tokenEndpoint, "token_endpoint", rules);
  return [
    { field: "authorization_endpoint", origin: authorization.origin },
    { field: "token_endpoint", origin: token.origin },
  ];
}

interface LoginPlan {
  readonly input: LoginInput;
  readonly http: AuthHttp;
  readonly found: Surroundings;
  readonly scopes: readonly string[];
  readonly dpopKey: DpopKey | null;
  readonly proofs: DpopProofs | null;
}

async function planLogin(input: LoginInput, http: AuthHttp, found: Surroundings): Promise<LoginPlan> {
  const { settings, challenge, before } = input;
  // What was asked of another authorization server means nothing to this one.
  const previous = before?.server.issuer === found.server.issuer ? before.requested : [];
  const isStepUp = challenge.error === "insufficient_scope";
  const scopes = chooseScopes({
    configured: settings.scopes,
    challenged: challenge.scopes,
    supported: found.resource.scopesSupported,
    offered: found.server.scopesSupported,
    previous,
    isStepUp,
    wantsRefresh: true,
  });
  const isDemanded = challenge.scheme === "dpop" || found.resource.needsDpop;
  const isDpop = wantsDpop(settings, { isDemanded, server: found.server });
  const dpopKey = isDpop ? await createDpopKey() : null;
  return {
    input,
    http,
    found,
    scopes,
    dpopKey,
    proofs: dpopKey === null ? null : await createDpopProofs(dpopKey),
  };
}

/** @param mayRegisterAnew a registration that the server has forgotten is made anew once (FC-85). */
async function authorizeOnce(
  plan: LoginPlan,
  signal: AbortSignal,
  mayRegisterAnew: boolean,
): Promise<TokenSet> {
  const { input, http, found, scopes } = plan;
  const { settings, credentials, clock, interaction } = input;
  const { issuer } = found.server;
  const known = await credentials.registration(issuer);
  const receiver = await interaction.openReceiver(wantedRedirect(settings, known), signal);
  try {
    const { redirectUri } = receiver;
    const { askClientId } = interaction;
    const nowMs = clock.now();
    const client = await obtainClient({
      http,
      server: found.server,
      settings,
      credentials,
      redirectUri,
      scopes,
      nowMs,
      askClientId: askClientId === undefined ? undefined : () => askClientId(issuer, redirectUri, signal),
    });
    const request = await createAuthorizationRequest(
      {
        server: found.server,
        clientId: client.clientId,
        redirectUri,
        scopes,
        resource: found.resource.resource,
        dpopThumbprint: plan.proofs?.thumbprint ?? null,
      },
      input.rules,
    );
    const answer = await redeem(
      plan,
      client,
      request,
      await askBrowser(plan, receiver, request, client, signal),
    );
    if (answer.kind === "issued") return toTokens(plan, client, answer.tokens);
    const isForgotten = client.source === "registered" && isClientError(answer.refusal.error);
    if (isForgotten) await credentials.dropRegistration(issuer);
    if (!isForgotten || !mayRegisterAnew) throw fromRefusal(answer.refusal, "the login", issuer);
  } finally {
    await receiver.close();
  }
  return authorizeOnce(plan, signal, false);
}

function wantedRedirect(settings: AuthSettings, known: Registration | undefined): WantedRedirect | null {
  if (settings.redirectUri !== null) return { uri: settings.redirectUri, isFixed: true };
  return known === undefined ? null : { uri: known.redirectUri, isFixed: false };
}

/** Whether the server says that it does not know the client (any more). */
export function isClientError(error: string | null): boolean {
  return error === "invalid_client" || error === "unauthorized_client";
}

async function redeem(
  plan: LoginPlan,
  client: ClientIdentity,
  request: AuthorizationRequest,
  callback: URLSearchParams,
) {
  const { http, found, input, proofs } = plan;
  const context = {
    http,
    server: found.server,
    client,
    settings: input.settings,
    resource: found.resource.resource,
    proofs,
  };
  return redeemCode(context, callback, request.redirectUri, request.verifier);
}

/** Shows the request and waits for its answer. @returns what `redeemCode` takes. */
async function askBrowser(
  plan: LoginPlan,
  receiver: CallbackReceiver,
  request: AuthorizationRequest,
  client: ClientIdentity,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  const { clock, interaction, credentials, answerMs = ANSWER_MS } = plan.input;
  const { issuer } = plan.found.server;
  const link = linkAbort(signal);
  const timer = clock.timer(answerMs, () =>
    link.abort(
      new PortcullisError("timed_out", `nothing came back from \`${issuer}\` within ${answerMs / 1_000} s`),
    ),
  );
  try {
    const arriving = receiver.receive(
      (query) => judgeCallback(query, request).kind !== "foreign",
      link.signal,
    );
    arriving.catch(() => undefined);
    await interaction.show(request.url, link.signal);
    const verdict = judgeCallback(await arriving, request);
    if (verdict.kind === "code") return verdict.callback;
    throw verdict.kind === "refused"
      ? verdict.error
      : new PortcullisError("auth_failed", "the answer belongs to another login");
  } catch (error) {
    // A client that the server has forgotten shows in the browser alone: next time it is registered anew.
    const isLate = error instanceof PortcullisError && error.code === "timed_out" && !signal.aborted;
    if (isLate && client.source === "registered") await credentials.dropRegistration(issuer);
    throw error;
  } finally {
    timer.cancel();
    // Whoever still waits for an answer is told that none is wanted.
    link.abort(new Error("the login is over"));
  }
}

function toTokens(
  plan: LoginPlan,
  client: ClientIdentity,
  issued: Parameters<typeof toTokenSet>[0],
): TokenSet {
  const { input, found, scopes, dpopKey } = plan;
  // A configured secret is read again when it is needed, and lies nowhere but where the operator put it.
  const kept = client.source === "configured" ? { ...client, secret: null } : client;
  return toTokenSet(
    issued,
    { requested: scopes, resource: found.resource.resource, server: found.server, client: kept, dpopKey },
    input.clock.now(),
  );
}
