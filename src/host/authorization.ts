/**
 * Authorization in a host: gives each session of a remote server its tokens and the mending of refusals, logs in and out, and
 * hears from the store when another process did. The logic is `auth/`; here it meets configuration, store and connections.
 */
import {
  createAuthorization,
  type Authorization,
  type LoginReport,
  type LogoutReport,
} from "../auth/authorization.ts";
import type { Interaction } from "../auth/login.ts";
import type { Vault } from "../auth/vault.ts";
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject } from "../base/json.ts";
import { readCertificates } from "../config/certificates.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import { resolveLaunch } from "../config/resolve-launch.ts";
import type { ResolveSecret } from "../config/secrets.ts";
import type { Connection } from "../connection/connection.ts";
import type { Session } from "../connection/session.ts";
import { createHttpPort } from "../egress/dial.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { Documents, Leases } from "../store/store.ts";
import type { Redactor } from "../text/redact.ts";
import type { HttpPort } from "../transport/http-port.ts";
import { connectionId, type ConnectionKey, type Principal } from "../vocabulary.ts";
import { askChallenge } from "./ask-challenge.ts";
import { grantOf, resolveAuth, variantOf } from "./auth-settings.ts";
import { connectionKeyOf, requireServer } from "./core.ts";
import { refuseIdle } from "./idle.ts";
import { lateResolverOf } from "./make-transport.ts";

/** What a session needs of authorization while it lives. */
export interface SessionAuthorization {
  /** The port that the transport uses: with tokens where the server gets any. */
  readonly wrapPort: (url: URL, port: HttpPort) => HttpPort;
  /** The client's hook: mends a refusal, or ends the connection in `auth_required`. */
  readonly onUnauthorized: (
    error: PortcullisError,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
}

/** A connection that may wait for a login. */
type LoginWaiter = Pick<Connection<Session>, "key" | "state" | "reconnect">;

export interface LoginOptions {
  /** Whose login, where the entry keeps one for each principal. Default `local`. */
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

export interface Authorizations {
  /** @param unauthorized ends the connection: nothing more is sent. */
  forSession(
    key: ConnectionKey,
    server: ServerConfig,
    unauthorized: (error: PortcullisError) => void,
  ): SessionAuthorization;
  /** @throws PortcullisError `usage` where there is nobody to log in, and as `logIn`. */
  login(server: string, interaction: Interaction, options: LoginOptions): Promise<LoginReport>;
  logout(server: string, options: LoginOptions): Promise<LogoutReport>;
  /** Ends logins that run; resolves when they are over. */
  close(): Promise<void>;
  /** Tokens may have changed: what is held is read again, and connections that waited for a login are made anew. */
  tokensChanged(connections: readonly LoginWaiter[]): Promise<void>;
}

export interface AuthorizationsDeps {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly documents: Documents;
  readonly leases: Leases;
  readonly vault: Vault;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly isPaused: (server: string) => boolean;
  readonly resolveSecret?: ResolveSecret;
}

export function createAuthorizations(deps: AuthorizationsDeps): Authorizations {
  const { clock, documents, leases, vault, redactor } = deps;
  const live = new Set<Authorization>();
  const running = new Set<Promise<unknown>>();
  const settled = (): void => undefined;

  const openPort =
    (server: ServerConfig) =>
    (origin: string): HttpPort =>
      createHttpPort({
        clock,
        ...readCertificates(deps.config().egress.certificates),
        rules: { origins: [origin], allow: [], allowPrivateAddresses: server.allowPrivateAddresses },
      });

  const create = (
    key: ConnectionKey,
    server: ServerConfig,
    url: URL,
    onExhausted: (error: PortcullisError) => void,
  ): Authorization | undefined => {
    const grant = grantOf(server);
    if (grant === undefined) return undefined;
    const onSecrets = (secrets: readonly string[]): void =>
      void redactor.add(`auth ${connectionId(key)}`, secrets);
    return createAuthorization({
      server: server.name,
      credential: key.credential,
      url,
      rules: { allowLoopbackHttp: server.allowPrivateAddresses },
      grant,
      variant: variantOf(server),
      readSettings: (signal) =>
        resolveAuth(
          server,
          grant,
          lateResolverOf(server, { ...deps, config: deps.config() }),
          onSecrets,
          signal,
        ),
      openPort: openPort(server),
      documents,
      leases,
      vault,
      clock,
      onSecrets,
      onExhausted,
    });
  };

  /** For a login or logout: the entry, its address and its headers, resolved now. */
  const meet = async (name: string, options: LoginOptions, signal: AbortSignal) => {
    const server = requireServer(deps.config(), name);
    const key = connectionKeyOf(server, options.principal ?? "local");
    const launch = await resolveLaunch(
      server,
      lateResolverOf(server, { ...deps, config: deps.config() }),
      signal,
    );
    redactor.add(server.name, launch.secrets);
    const authorization = launch.kind === "stdio" ? undefined : create(key, server, launch.url, settled);
    if (launch.kind === "stdio" || authorization === undefined)
      throw new PortcullisError("usage", `\`${name}\` takes no login: ${whyNoLogin(server)}`);
    return { server, launch, authorization };
  };

  /** Ends with the host, and the host waits for its end. */
  const supervise = async <T>(
    options: LoginOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const link = linkAbort(options.signal, deps.signal);
    const done = work(link.signal).finally(() => link.unlink());
    const settling = done.catch(() => undefined).finally(() => running.delete(settling));
    running.add(settling);
    return done;
  };

  return {
    forSession(key, server, unauthorized) {
      let authorization: Authorization | undefined;
      return {
        wrapPort(url, port) {
          const made = create(key, server, url, unauthorized);
          if (made === undefined) return port;
          authorization = made;
          live.add(made);
          const wrapped = made.port(port);
          return {
            request: (request) => wrapped.request(request),
            async close() {
              live.delete(made);
              await wrapped.close();
            },
          };
        },
        async onUnauthorized(error, signal) {
          if (authorization === undefined) {
            unauthorized(error);
            return undefined;
          }
          try {
            await authorization.mend(error, signal);
            return {};
          } catch (cause) {
            const failure = toPortcullisError(cause);
            if (failure.code === "auth_required" || failure.code === "auth_failed") unauthorized(failure);
            throw cause;
          }
        },
      };
    },

    login: (name, interaction, options) =>
      supervise(options, async (signal) => {
        // Nothing is sent to a server that the operator has turned off, by a login neither.
        refuseIdle(requireServer(deps.config(), name), deps);
        const { server, launch, authorization } = await meet(name, options, signal);
        const port = openPort(server)(launch.url.origin);
        try {
          const seen = await askChallenge(port, launch.url, launch.headers, signal);
          return await authorization.login(interaction, seen, signal);
        } finally {
          await port.close();
        }
      }),

    logout: (name, options) =>
      supervise(options, async (signal) => {
        const { authorization } = await meet(name, options, signal);
        return authorization.logout(signal);
      }),

    async close() {
      await Promise.all(running);
    },

    async tokensChanged(connections) {
      for (const authorization of live) authorization.reload();
      for (const connection of connections) {
        const { state, key } = connection;
        if (state.kind !== "auth-required") continue;
        const stored = await documents.list("tokens", `${connectionId(key)} `);
        // Got after the connection gave up: somebody logged in.
        const isNew = stored.some(
          ({ value }) => isJsonObject(value) && Number(value["obtainedAt"]) > state.sinceMs,
        );
        if (isNew && connection.state === state) connection.reconnect("a login was made");
      }
    },
  };
}

function whyNoLogin({ launch, auth }: ServerConfig): string {
  if (launch.kind === "stdio") return "it is a local program";
  return auth === null ? "its headers hold a token" : `its \`auth.type\` is \`${auth.type}\``;
}
