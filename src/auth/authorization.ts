/**
 * The authorization of one connection to one server: puts tokens on its requests, mends refusals without a person where that
 * is possible, logs in with one where not, and logs out. Puts the parts of this folder together and decides nothing itself.
 *
 * `mend` is asked by the client once for all requests that met the same refusal. What it cannot mend ends in `auth_required`.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents, Leases } from "../store/store.ts";
import type { HttpPort } from "../transport/http-port.ts";
import { createTokenUse } from "./authorized-port.ts";
import { readChallenge, type Challenge } from "./challenge.ts";
import { createCredentials, type Wish } from "./credentials.ts";
import type { AcceptOrigins } from "./discovery.ts";
import type { UrlRules } from "./endpoint.ts";
import { withAuthHttp, type OpenPort } from "./http.ts";
import { createKeeper, type Renew } from "./keeper.ts";
import { logIn, type Interaction } from "./login.ts";
import { acquire } from "./machine.ts";
import { refresh } from "./refresh.ts";
import { revoke, type Revocation } from "./revoke.ts";
import { coversScopes } from "./scopes.ts";
import { createSealedDocuments } from "./sealed-document.ts";
import type { AuthSettings, GrantKind, ReadSettings } from "./settings.ts";
import { createTokenStore, secretsOf, tokenKey, tokenPrefix, type TokenSet } from "./tokens.ts";
import type { Vault } from "./vault.ts";

export interface AuthorizationOptions {
  /** Name of the entry, and whose credential it is: `shared`, or a principal. */
  readonly server: string;
  readonly credential: string;
  readonly url: URL;
  readonly rules: UrlRules;
  readonly grant: GrantKind;
  /** What of the entry the tokens depend on, as one text: after a change they are got anew. Default: nothing. */
  readonly variant?: string;
  readonly readSettings: ReadSettings;
  readonly openPort: OpenPort;
  readonly documents: Documents;
  readonly leases: Leases;
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly clock: Clock;
  /** Told of every secret before it is used, for redaction by value. */
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** A new token was refused as well: the connection is over. */
  readonly onExhausted: (error: PortcullisError) => void;
}

export interface LoginReport {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** ISO 8601; `null`: not said. */
  readonly expiresAt: string | null;
  /** Whether the login goes on by itself after that. */
  readonly canRefresh: boolean;
}

export interface LogoutReport {
  readonly wasLoggedIn: boolean;
  /** `null`: there was nothing to revoke. */
  readonly revocation: Revocation | null;
}

/** A 401 or 403 that was met. */
export interface SeenRefusal {
  readonly wwwAuthenticate: string | undefined;
}

export interface Authorization {
  /** The port of the server's transport: closing it ends this authorization's work too. */
  port(inner: HttpPort): HttpPort;
  /**
   * Resolves where the refused requests are worth sending again.
   * @throws PortcullisError `auth_required` or `auth_failed` where only a person can help, `http_error` where it may work later.
   */
  mend(error: PortcullisError, signal: AbortSignal): Promise<void>;
  /** @param seen a refusal, where one is at hand; `null`: the server refused nothing. @throws as `logIn`. */
  login(interaction: Interaction, seen: SeenRefusal | null, signal: AbortSignal): Promise<LoginReport>;
  logout(signal: AbortSignal): Promise<LogoutReport>;
  /** Somebody else may have written the store. */
  reload(): void;
}

/** Step-ups for the same scopes, while a connection lives (AUTH-56, SEC-20). */
const MAX_STEP_UPS = 3;
const CLOSE_GRACE_MS = 2_000;

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { clock, url, rules, openPort, readSettings } = options;
  const owner = `${options.server} ${options.credential}`;
  const sealed = (collection: "tokens" | "credentials") =>
    createSealedDocuments(collection, options.documents, options.vault);
  const store = createTokenStore(
    sealed("tokens"),
    tokenKey(options.server, options.credential, url, options.variant ?? ""),
  );
  const credentials = createCredentials(sealed("credentials"), owner);
  const leaseName = `auth ${owner}`;
  const stepUps = new Map<string, number>();

  const needsLogin = (why: string): PortcullisError => {
    const whose = options.credential === "shared" ? "" : ` --principal ${JSON.stringify(options.credential)}`;
    const message = `\`${options.server}\` needs a login (${why}): run \`portcullis login ${options.server}${whose}\``;
    return new PortcullisError("auth_required", message, { data: { wasSent: false, provesNoEffect: true } });
  };

  /** Without a person only what was accepted before is contacted; machine grants name their one server in the configuration. */
  const acceptSilently = async (trusted: readonly string[]): Promise<AcceptOrigins> => {
    const accepted = new Set([url.origin, ...trusted, ...(await credentials.acceptance()).origins]);
    return async (named) => {
      const foreign = named.find(({ origin }) => !accepted.has(origin));
      if (foreign === undefined) return;
      throw new PortcullisError(
        "egress_denied",
        `\`${foreign.field}\` is on \`${foreign.origin}\`, which nobody has accepted for \`${options.server}\``,
        { data: { field: foreign.field, origin: foreign.origin, wasSent: false } },
      );
    };
  };

  /** @param challenge `null`: ahead of time, nobody refused anything. */
  const renewWith = (challenge: Challenge | null): Renew =>
    options.grant === "person" ? refreshWith(challenge) : acquireWith(challenge);

  const refreshWith =
    (challenge: Challenge | null): Renew =>
    async (before, signal) => {
      const settings = await readSettings(signal);
      const accept = await acceptSilently([]);
      return refresh(
        { server: url, rules, settings, openPort, credentials, store, clock, accept, challenge, needsLogin },
        before,
        signal,
      );
    };

  const acquireWith =
    (challenge: Challenge | null): Renew =>
    async (before, signal) => {
      const settings = await readSettings(signal);
      return withAuthHttp(options, signal, async (http) =>
        acquire({
          // The operator named the issuer, and the issuer its endpoints.
          discovery: { http, rules, server: url, accept: trustIssuer(url, settings.issuer) },
          settings,
          challenge: challenge ?? NO_CHALLENGE,
          known: challenge === null && before?.server.issuer === settings.issuer ? before : undefined,
          previous: before?.requested ?? [],
          nowMs: clock.now(),
        }),
      );
    };

  const keeper = createKeeper({
    name: leaseName,
    store,
    leases: options.leases,
    clock,
    renewAhead: (tokens) =>
      options.grant === "person" && tokens.refreshToken === null ? undefined : renewWith(null),
    onTokens: (tokens) => options.onSecrets(secretsOf(tokens)),
  });
  const use = createTokenUse({
    origin: url.origin,
    current: (signal) => keeper.current(signal),
    onExhausted: options.onExhausted,
  });

  /** What a step-up wanted is not forgotten for a plain refusal after it. */
  const keepWish = async (challenge: Challenge): Promise<void> => {
    const before = await credentials.wish();
    const isStepUp = challenge.error === "insufficient_scope";
    const kept = before?.isStepUp === true ? (before.scopes ?? []) : [];
    const scopes = [...new Set([...kept, ...(challenge.scopes ?? [])])];
    await credentials.keepWish({
      resourceMetadata: challenge.resourceMetadata,
      scopes: scopes.length === 0 ? null : scopes,
      isStepUp: isStepUp || kept.length > 0,
      needsDpop: challenge.scheme === "dpop",
    });
  };

  /** @throws where stepping up is hopeless or was tried often enough. */
  const demandStepUp = async (challenge: Challenge): Promise<void> => {
    const wanted = challenge.scopes ?? [];
    const key = [...wanted].sort().join(" ");
    const tries = (stepUps.get(key) ?? 0) + 1;
    stepUps.set(key, tries);
    const scopes = wanted.map((scope) => `\`${scope}\``).join(", ") || "it does not say which";
    if (options.grant === "person") {
      await keepWish(challenge);
      throw needsLogin(`it wants more than was granted: ${scopes}`);
    }
    const held = (await store.read())?.scopes ?? [];
    if (tries > MAX_STEP_UPS || (wanted.length > 0 && coversScopes(held, wanted))) {
      throw new PortcullisError(
        "auth_required",
        `\`${options.server}\` refuses a token that has the scopes it asks for (${scopes})`,
        {
          data: { wasSent: false, provesNoEffect: true },
        },
      );
    }
  };

  return {
    port: (inner) => {
      const port = use.port(inner);
      return {
        request: (request) => port.request(request),
        async close() {
          await inner.close();
          await keeper.close(CLOSE_GRACE_MS);
        },
      };
    },
    async mend(error, signal) {
      const challenge = challengeOf(error);
      const status = error.data["status"] === 403 ? 403 : 401;
      const isStepUp = challenge.error === "insufficient_scope";
      if (status === 403 && !isStepUp) throw needsLogin("it refuses access with status 403");
      if (isStepUp) await demandStepUp(challenge);
      try {
        use.expect(await keeper.replace(use.isRefused, renewWith(challenge), signal), status);
      } catch (cause) {
        if (cause instanceof PortcullisError && cause.code === "auth_required" && options.grant === "person")
          await keepWish(challenge);
        throw toFailure(cause);
      }
    },
    async login(interaction, seen, signal) {
      const settings = await readSettings(signal);
      if (settings.grant !== "person")
        throw new PortcullisError(
          "usage",
          `\`${options.server}\` gets its tokens by itself: there is nobody to log in`,
        );
      const wish = await credentials.wish();
      const challenge = withWish(readChallenge(seen?.wwwAuthenticate), wish);
      const wasRefused = seen !== null || wish !== undefined;
      const before = await store.read();
      const tokens = await logIn(
        {
          server: url,
          rules,
          settings,
          challenge,
          wasRefused,
          openPort,
          credentials,
          before,
          clock,
          interaction,
        },
        signal,
      );
      options.onSecrets(secretsOf(tokens));
      await alone(signal, () => store.write(tokens));
      await credentials.dropWish();
      keeper.reload();
      return reportOf(tokens);
    },
    logout: (signal) =>
      alone(signal, async () => {
        const tokens = await store.read();
        const revocation = tokens === undefined ? null : await tell(tokens, signal);
        // Of other addresses that the entry once had, too.
        const prefix = tokenPrefix(options.server, options.credential);
        for (const { key } of await options.documents.list("tokens", prefix))
          await options.documents.delete("tokens", key);
        await credentials.forget();
        keeper.reload();
        return { wasLoggedIn: tokens !== undefined, revocation };
      }),
    reload: () => keeper.reload(),
  };

  /** A secret that cannot be read any more must not keep tokens from being forgotten. */
  async function tell(tokens: TokenSet, signal: AbortSignal): Promise<Revocation> {
    let settings: AuthSettings;
    try {
      settings = await readSettings(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return "failed";
    }
    return revoke(tokens, settings, options, signal);
  }

  /** While no process renews these tokens. */
  async function alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lease = await options.leases.acquire(leaseName, signal);
    try {
      return await work();
    } finally {
      await lease.release();
    }
  }
}

const NO_CHALLENGE: Challenge = { scheme: "other", resourceMetadata: null, scopes: null, error: null };

function challengeOf(error: PortcullisError): Challenge {
  const header = error.data["wwwAuthenticate"];
  return readChallenge(typeof header === "string" ? header : undefined);
}

/** The server's own origin, and whatever the issuer that the operator named says of itself. */
function trustIssuer(server: URL, issuer: string | null): AcceptOrigins {
  return async (named) => {
    for (const { field, origin } of named) {
      if (origin === server.origin || (field !== "resource_metadata" && issuer !== null)) continue;
      throw new PortcullisError(
        "egress_denied",
        `\`${field}\` is on \`${origin}\`, which the configuration does not name`,
        {
          data: { field, origin, wasSent: false },
        },
      );
    }
  };
}

/** What an earlier refusal asked for counts too. */
function withWish(challenge: Challenge, wish: Wish | undefined): Challenge {
  if (wish === undefined) return challenge;
  const scopes = wish.isStepUp
    ? [...(challenge.scopes ?? []), ...(wish.scopes ?? [])]
    : (challenge.scopes ?? wish.scopes);
  return {
    scheme: wish.needsDpop ? "dpop" : challenge.scheme,
    resourceMetadata: challenge.resourceMetadata ?? wish.resourceMetadata,
    scopes: scopes === null || scopes.length === 0 ? null : [...new Set(scopes)],
    error: wish.isStepUp ? "insufficient_scope" : challenge.error,
  };
}

/** A refusal that no waiting ends is one of authorization: the connection stops there instead of trying again and again. */
function toFailure(cause: unknown): unknown {
  if (!(cause instanceof PortcullisError)) return cause;
  const isPermanent = ["egress_denied", "config_invalid", "secret_unresolved"].includes(cause.code);
  return isPermanent ? new PortcullisError("auth_failed", cause.message, { cause, data: cause.data }) : cause;
}

function reportOf(tokens: TokenSet): LoginReport {
  return {
    issuer: tokens.server.issuer,
    resource: tokens.resource,
    scopes: tokens.scopes,
    expiresAt: tokens.expiresAt === null ? null : new Date(tokens.expiresAt).toISOString(),
    canRefresh: tokens.refreshToken !== null,
  };
}
