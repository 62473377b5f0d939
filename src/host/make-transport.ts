/** The transport of one server: references resolved just now, the environment of its entry alone, its secrets told to the redactor. */
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { readCertificates } from "../config/certificates.ts";
import { childEnvironment } from "../config/child-env.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import type { HostFacts } from "../config/locate.ts";
import { resolveLaunch } from "../config/resolve-launch.ts";
import { createLateResolver, type LateResolver, type ResolveSecret } from "../config/secrets.ts";
import { thisProcess } from "../config/this-process.ts";
import { createHttpPort } from "../egress/dial.ts";
import type { Documents } from "../store/store.ts";
import type { Redactor } from "../text/redact.ts";
import { createHttpTransport } from "../transport/http.ts";
import { KEYCHAIN_VARIABLES, readKeychain } from "../transport/keychain.ts";
import { createSseTransport } from "../transport/sse-legacy.ts";
import type { RegisterChild } from "../transport/stdio-options.ts";
import type { HttpPort } from "../transport/http-port.ts";
import { createStdioTransport } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";
import { prepareLocalLaunch } from "./local-launch.ts";

/** A server that ignores everything is killed after 2 s, so that a host ends within its 5 s. */
const GRACES = { stdinGraceMs: 1_000, sigtermGraceMs: 1_000, sigkillGraceMs: 1_000 } as const;
/** The answer to a handshake is a name, a version and a page of instructions: what floods instead is ended early. */
const GREETING_BYTES = 1_048_576;

export interface TransportDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  /** What is locked is read from it. */
  readonly documents: Pick<Documents, "get">;
  readonly registerChild: RegisterChild;
  readonly resolveSecret?: ResolveSecret;
}

/** Answers the references of one entry, for that entry alone; `null`: those of the host itself. */
export function lateResolverOf(
  server: Pick<ServerConfig, "name"> | null,
  { config, clock, resolveSecret }: Pick<TransportDeps, "config" | "clock" | "resolveSecret">,
): LateResolver {
  const facts = thisProcess();
  const { platform } = facts;
  return createLateResolver({
    server: server?.name ?? null,
    ...facts,
    baseDir: config.file === null ? facts.cwd : dirname(config.file),
    readKeychain: (name, signal) =>
      readKeychain(name, { platform, env: keychainEnvironment(facts), clock, signal }),
    ...(resolveSecret === undefined ? {} : { resolveSecret }),
  });
}

/** The tool that reads the keychain has to find the keychain of this session. */
function keychainEnvironment({ env, platform }: HostFacts): Record<string, string> {
  const entry: Record<string, string> = {};
  for (const name of KEYCHAIN_VARIABLES) {
    const value = env[name];
    if (value !== undefined) entry[name] = value;
  }
  return childEnvironment({ host: env, entry, platform });
}

/**
 * Resolves the launch of `server` and makes its transport, unopened.
 *
 * @param wrapPort puts authorization in front of the port of a remote server.
 * @throws PortcullisError `secret_unresolved`, `config_invalid`, `server_blocked`, `spawn_failed`, or the signal's reason.
 */
export async function makeTransport(
  server: ServerConfig,
  deps: TransportDeps,
  wrapPort: (url: URL, port: HttpPort) => HttpPort,
  signal: AbortSignal,
): Promise<Transport> {
  const { clock, random, redactor } = deps;
  const facts = thisProcess();
  const launch = await resolveLaunch(server, lateResolverOf(server, deps), signal);
  redactor.add(server.name, launch.secrets);
  if (launch.kind === "stdio") {
    return createStdioTransport({
      ...(await prepareLocalLaunch(server, launch, facts, deps, signal)),
      clock,
      limits: {
        messageBytes: server.limits.messageBytes,
        greetingBytes: Math.min(GREETING_BYTES, server.limits.messageBytes),
      },
      terminate: GRACES,
      registerChild: deps.registerChild,
      redact: (text) => redactor.redact(text),
    });
  }
  const port = createHttpPort({
    clock,
    ...readCertificates(deps.config.egress.certificates),
    rules: {
      origins: [launch.url.origin],
      allow: deps.config.egress.allow,
      allowPrivateAddresses: server.allowPrivateAddresses,
    },
  });
  const options = {
    url: launch.url,
    headers: () => launch.headers,
    port: wrapPort(launch.url, port),
    clock,
    random,
    limits: { messageBytes: server.limits.messageBytes },
  };
  return launch.kind === "sse" ? createSseTransport(options) : createHttpTransport(options);
}
