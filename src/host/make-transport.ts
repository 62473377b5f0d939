/** The transport of one server: references resolved just now, the environment of its entry alone, its secrets told to the redactor. */
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { childEnvironment } from "../config/child-env.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import { resolveLaunch } from "../config/resolve-launch.ts";
import { createLateResolver, type ResolveSecret } from "../config/secrets.ts";
import { thisProcess } from "../config/this-process.ts";
import { createHttpPort } from "../egress/dial.ts";
import type { Redactor } from "../text/redact.ts";
import { createHttpTransport } from "../transport/http.ts";
import { createSseTransport } from "../transport/sse-legacy.ts";
import type { RegisterChild } from "../transport/stdio-options.ts";
import { createStdioTransport } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";

export interface TransportDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: Redactor;
  readonly registerChild: RegisterChild;
  readonly resolveSecret?: ResolveSecret;
  /** Lines of a child's stderr, secrets taken out. */
  readonly onStderrLine?: (server: string, line: string) => void;
}

/**
 * Resolves the launch of `server` and makes its transport, unopened.
 *
 * @throws PortcullisError `secret_unresolved`, `config_invalid`, or the signal's reason.
 */
export async function makeTransport(
  server: ServerConfig,
  deps: TransportDeps,
  signal: AbortSignal,
): Promise<Transport> {
  const { clock, random, redactor } = deps;
  const facts = thisProcess();
  const resolver = createLateResolver({
    server: server.name,
    ...facts,
    baseDir: deps.config.file === null ? facts.cwd : dirname(deps.config.file),
    ...(deps.resolveSecret === undefined ? {} : { resolveSecret: deps.resolveSecret }),
  });
  const launch = await resolveLaunch(server, resolver, signal);
  redactor.add(server.name, launch.secrets);
  if (launch.kind === "stdio") {
    return createStdioTransport({
      command: launch.command,
      args: launch.args,
      cwd: launch.cwd,
      env: childEnvironment({
        host: facts.env,
        entry: launch.env,
        platform: facts.platform,
        command: launch.command,
      }),
      clock,
      limits: { messageBytes: server.limits.messageBytes },
      registerChild: deps.registerChild,
      redact: (text) => redactor.redact(text),
      onStderrLine: (line) => deps.onStderrLine?.(server.name, line),
    });
  }
  const port = createHttpPort({
    clock,
    rules: {
      origins: [launch.url.origin],
      allow: deps.config.egress.allow,
      allowPrivateAddresses: server.allowPrivateAddresses,
    },
  });
  const options = {
    url: launch.url,
    headers: async () => launch.headers,
    port,
    clock,
    random,
    limits: { messageBytes: server.limits.messageBytes },
  };
  return launch.kind === "sse" ? createSseTransport(options) : createHttpTransport(options);
}
