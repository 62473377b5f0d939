/**
 * The gateway: one listener with two doors. `/mcp` is for agents and stands on plain `node:http`; the admin API and the
 * console are for people. Host, Origin and token are judged in front of everything.
 *
 * Invariants: the agent's token opens nothing but `/mcp`, the admin token everything but `/mcp`; a token is always needed
 * outside loopback; closing ends every socket.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import { createLifetime } from "../base/lifetime.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/compiled.ts";
import { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { rpcCodes } from "../protocol/codes.ts";
import {
  digestToken,
  inUrl,
  isLoopback,
  judgeAccess,
  judgeSender,
  namesOf,
  type AccessRules,
  type AccessVerdict,
} from "./access.ts";
import type { AdminDoor } from "./admin-door.ts";
import { rpcFailure, sendJson } from "./http-answer.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import { DEFAULT_LIMITS, type GatewayLimits } from "./limits.ts";
import { createMcpEndpoint } from "./mcp-endpoint.ts";
import { createMcpMethods } from "./mcp-methods.ts";
import { createOffers } from "./offers.ts";
import { createPulse } from "./pulse.ts";
import { createRounds } from "./rounds.ts";
import { findConsoleDir, openStatic } from "./static.ts";
import { openTokens } from "./tokens.ts";

export interface GatewayOptions {
  readonly host: Host;
  readonly config: Pick<Config, "gateway" | "file">;
  readonly clock: Clock;
  readonly random: Random;
  readonly stateDir: string;
  /** The built console; default: where a clone or the package has it. */
  readonly consoleDir?: string;
  readonly limits?: Partial<GatewayLimits>;
  /** Something a person should know, one sentence. */
  readonly onWarning?: (message: string) => void;
  /** Faults of ours. */
  readonly onError?: (error: unknown) => void;
}

export interface Gateway {
  /** For example `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly tokens: Readonly<Record<"mcp" | "admin", string>>;
  /** Takes nothing new and ends the streams; what runs goes on. */
  drain(): void;
  /** Drains, cuts off what still runs, ends every socket. @returns how many requests were cut off. */
  close(): Promise<{ readonly cutOff: number }>;
}

/** For the last answers when everything is cut off. */
const LAST_WORDS_MS = 1_000;

/** Headers of everything that a browser may show. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * Opens the listener of `config.gateway` and writes the file by which commands find it.
 *
 * @throws PortcullisError `address_in_use`, `config_invalid` where it cannot listen there, `state_unusable`.
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { host, config, clock, random } = options;
  const limits: GatewayLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const onError = options.onError ?? ((): void => undefined);
  const lifetime = createLifetime("gateway");
  const cutting = new AbortController();
  const { tokens, announce, release } = openTokens(options.stateDir, random, config.file);
  const isOpenDoor = !config.gateway.requireToken && isLoopback(config.gateway.host);

  const pulse = lifetime.own(createPulse(clock, limits.pulseMs));
  const offers = lifetime.own(createOffers(host, clock));
  const mcp = createMcpMethods({ host, offers, clock, onError });
  const rounds = lifetime.own(createRounds({ clock, random }));
  const sessions = lifetime.own(
    createLegacySessions({ ...limits, mcp, offers, clock, random, pulse, signal: cutting.signal }),
  );
  const endpoint = createMcpEndpoint({
    mcp,
    offers,
    rounds,
    sessions,
    pulse,
    limits,
    signal: cutting.signal,
    onError,
  });
  let admin: Promise<AdminDoor> | undefined;
  /** What it stands on takes long to load: an agent that asks first does not wait for it. */
  const openAdmin = async (): Promise<AdminDoor> => {
    const { openAdminDoor } = await import("./admin-door.ts");
    return openAdminDoor({
      host,
      offers,
      clock,
      pulse,
      limits,
      adminToken: tokens.admin,
      signal: cutting.signal,
      onError,
    });
  };
  const files = openStatic(options.consoleDir ?? findConsoleDir());
  let rules: AccessRules | undefined;

  const server = createServer(
    {
      keepAlive: true,
      // Joined, and then no Host, token or media type that counts: who sends two is not asked which one was meant.
      joinDuplicateHeaders: true,
      headersTimeout: limits.headTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.requestTimeoutMs),
    },
    (request, response) => {
      if (rules === undefined) response.destroy();
      else route(request, response, rules);
    },
  );
  server.maxConnections = limits.maxConnections;

  const route = (request: IncomingMessage, response: ServerResponse, judged: AccessRules): void => {
    response.on("error", () => undefined);
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    if (path === "/mcp") {
      const verdict = judgeAccess(request.headers, "mcp", judged);
      if (verdict.allowed) endpoint.handle(request, response);
      else refuseAgent(response, verdict);
      return;
    }
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    const isApi = path === "/api" || path.startsWith("/api/");
    const verdict =
      isApi && path !== "/api/hello"
        ? judgeAccess(request.headers, "admin", judged)
        : judgeSender(request.headers, judged);
    if (!verdict.allowed) refusePerson(response, verdict);
    else if (isApi) {
      response.setHeader("cache-control", "no-store");
      admin ??= openAdmin();
      admin
        .then((door) => door.handle(request, response))
        .catch((error: unknown) => {
          onError(error);
          response.destroy();
        });
    } else servePage(request, response, path);
  };

  const servePage = (request: IncomingMessage, response: ServerResponse, path: string): void => {
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendJson(response, 405, null, { allow: "GET, HEAD" });
    const { status, headers, body } = files.find(path);
    response.writeHead(status, { ...headers, "content-length": body.byteLength });
    response.end(request.method === "HEAD" ? undefined : body);
  };

  let port: number;
  try {
    port = await listen(server, config.gateway);
  } catch (error) {
    await lifetime.close();
    throw error;
  }
  lifetime.onClose(async () => closeServer(server));
  lifetime.onClose(release);
  const url = `http://${inUrl(config.gateway.host)}:${port}`;
  try {
    announce(url);
  } catch (error) {
    await lifetime.close();
    throw error;
  }
  if (!isLoopback(config.gateway.host)) {
    options.onWarning?.(
      `the gateway listens on ${config.gateway.host}, so other machines reach it over plain http, tokens included: put a TLS proxy in front, or listen on 127.0.0.1`,
    );
  }
  if (isOpenDoor) {
    options.onWarning?.(
      "every program on this machine may call tools through /mcp, because `gateway.requireToken` is false",
    );
  }
  rules = {
    ...namesOf(config.gateway.host, port),
    tokenDigests: { mcp: digestToken(tokens.mcp), admin: digestToken(tokens.admin) },
    requiresToken: { mcp: !isOpenDoor, admin: true },
  };

  const drain = (): void => {
    server.close();
    server.closeIdleConnections();
    endpoint.endStreams();
    admin?.then((door) => door.endStreams()).catch(onError);
  };

  return {
    url,
    tokens,
    drain,
    async close() {
      drain();
      const cutOff = endpoint.running;
      cutting.abort(new PortcullisError("interrupted", "the gateway was closed"));
      // Those whose calls end now still get to read how.
      const patience = clock.timer(LAST_WORDS_MS, () => endpoint.giveUp());
      await endpoint.idle();
      patience.cancel();
      await lifetime.close();
      return { cutOff };
    },
  };
}

async function listen(server: Server, { host, port }: Config["gateway"]): Promise<number> {
  const ready = Promise.withResolvers<void>();
  server.once("error", ready.reject);
  server.listen({ host, port }, () => ready.resolve());
  try {
    await ready.promise;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    throw new PortcullisError(
      code === "EADDRINUSE" ? "address_in_use" : "config_invalid",
      code === "EADDRINUSE"
        ? `something else listens on \`${inUrl(host)}:${port}\``
        : `cannot listen on \`${inUrl(host)}:${port}\` (${code})`,
      { cause },
    );
  } finally {
    server.off("error", ready.reject);
  }
  server.on("error", () => undefined);
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

type Refusal = Extract<AccessVerdict, { readonly allowed: false }>;

function refuseAgent(response: ServerResponse, { status, reason }: Refusal): void {
  const headers = status === 401 ? { "www-authenticate": 'Bearer realm="portcullis"' } : {};
  sendJson(response, status, rpcFailure(null, { code: rpcCodes.invalidRequest, message: reason }), headers);
}

function refusePerson(response: ServerResponse, { status, reason }: Refusal): void {
  const code = status === 401 ? "auth_required" : "usage";
  const help =
    status === 401
      ? "Open the link that `portcullis serve` printed."
      : "Use the address that `portcullis serve` printed.";
  sendJson(response, status, { error: { code, message: reason, help } });
}
