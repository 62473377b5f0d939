/**
 * The only way to the network: implements `HttpPort` with guarded sockets. Every request is judged before a socket is
 * taken (scheme, host, headers) and every socket before it carries one (addresses). Redirects are not followed, cookies
 * not kept, proxies not used.
 */
import { getCACertificates } from "node:tls";
import { throwIfAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../transport/http-port.ts";
import type { Resolver } from "./connect.ts";
import { connectGuarded, systemResolver } from "./connect.ts";
import { ACCEPT_ENCODING, capBytes, decompress } from "./decompress.ts";
import { closedError, exchange } from "./exchange.ts";
import { fromNetError } from "./net-error.ts";
import { checkRequestHeaders } from "./request-headers.ts";
import type { EgressDecision, EgressRules } from "./rules.ts";
import { evaluateHeaders, evaluateUrl, isConfiguredOrigin } from "./rules.ts";
import type { SocketPool } from "./socket-pool.ts";

export interface HttpPortLimits {
  /** Milliseconds for name, TCP and TLS of one socket; default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Sockets to one origin at once; more requests wait in order. Default 256. */
  readonly maxSockets?: number;
  /** Bytes of a response head; default 32 KiB. */
  readonly maxHeaderBytes?: number;
}

export interface HttpPortOptions {
  readonly rules: EgressRules;
  readonly clock: Clock;
  /** `ca`: PEM certificates trusted besides those of Node. Certificate checks cannot be turned off. */
  readonly tls?: { readonly ca: readonly string[] };
  readonly limits?: HttpPortLimits;
  /** Default: the operating system's resolver. */
  readonly resolve?: Resolver;
}

/** A URL that may be asked, and what every request to it needs of it: the parts of a `URL` are dear to ask for. */
interface Judged {
  readonly href: string;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly mayGetSecrets: boolean;
}

/** A guarded HTTP client for one connection (or one errand). Whoever made it closes it. */
export function createHttpPort(options: HttpPortOptions): HttpPort {
  const { rules, clock, limits = {} } = options;
  const connectTimeoutMs = limits.connectTimeoutMs ?? 10_000;
  const pools = new Map<string, SocketPool>();
  const tlsSessions = new Map<string, Buffer>();
  const ca = options.tls === undefined ? undefined : [...getCACertificates("default"), ...options.tls.ca];
  const resolve = options.resolve ?? systemResolver;
  let closing: Promise<void> | undefined;
  let judged: Judged | undefined;

  /** A connection asks one URL, over and over. */
  const judge = (url: URL): Judged => {
    if (judged?.href === url.href) return judged;
    demand(evaluateUrl(url, rules), url);
    const { href, origin } = url;
    judged = { href, origin, path: url.pathname + url.search, mayGetSecrets: isConfiguredOrigin(url, rules) };
    return judged;
  };

  const dial = async (origin: URL, outer: AbortSignal) => {
    const attempt = new AbortController();
    const onAbort = (): void => attempt.abort(outer.reason);
    outer.addEventListener("abort", onAbort, { once: true });
    const timer = clock.timer(connectTimeoutMs, () =>
      attempt.abort(
        new PortcullisError("timed_out", `${origin.origin}: no connection within ${connectTimeoutMs} ms`, {
          data: { wasSent: false },
        }),
      ),
    );
    try {
      return await connectGuarded(origin, { rules, clock, resolve, ca, tlsSessions }, attempt.signal);
    } catch (error) {
      throw fromNetError(error, { origin: origin.origin, wasSent: false });
    } finally {
      timer.cancel();
      outer.removeEventListener("abort", onAbort);
    }
  };

  const openPool = async (url: URL): Promise<SocketPool> => {
    // The HTTP client is a tenth of a second to load: whoever opens no connection does not wait for it.
    const { createSocketPool } = await import("./socket-pool.ts");
    const known = pools.get(url.origin);
    if (known !== undefined) return known;
    const origin = new URL(url.origin);
    const pool = createSocketPool({
      origin,
      clock,
      dial: (signal) => dial(origin, signal),
      maxSockets: limits.maxSockets ?? 256,
      maxHeaderBytes: limits.maxHeaderBytes ?? 32 * 1024,
    });
    pools.set(url.origin, pool);
    return pool;
  };

  const send = (pool: SocketPool, request: HttpRequest, target: Judged): Promise<HttpResponse> => {
    throwIfAborted(request.signal);
    if (closing !== undefined) throw closedError(target.origin);
    const sent = exchange(
      pool,
      request,
      { origin: target.origin, path: target.path, headers: withEncoding(request.headers) },
      clock,
    );
    return sent.then((response) => readable(request, response));
  };

  /** Not an async function, as most of what follows: every call over HTTP passes here. */
  const start = (request: HttpRequest): Promise<HttpResponse> => {
    throwIfAborted(request.signal);
    const { url, headers } = request;
    const target = judge(url);
    if (!target.mayGetSecrets) demand(evaluateHeaders(Object.keys(headers), url, rules), url);
    checkRequestHeaders(headers);
    const pool = pools.get(target.origin);
    if (pool !== undefined) return send(pool, request, target);
    return openPool(url).then((opened) => send(opened, request, target));
  };

  return {
    request(request) {
      try {
        return start(request);
      } catch (error) {
        return Promise.reject(error as Error);
      }
    },
    close() {
      closing ??= Promise.all([...pools.values()].map((pool) => pool.close())).then(() => undefined);
      return closing;
    },
  };
}

function demand(decision: EgressDecision, url: URL): void {
  if (decision.allowed) return;
  throw new PortcullisError("egress_denied", decision.reason, {
    data: { origin: url.origin, wasSent: false },
  });
}

function withEncoding(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return "accept-encoding" in headers ? headers : { ...headers, "accept-encoding": ACCEPT_ENCODING };
}

/** The response with its body decoded and capped. */
function readable(request: HttpRequest, response: HttpResponse): HttpResponse {
  const { origin } = request.url;
  const encoding = response.headers["content-encoding"];
  const isUncapped = request.maxBodyBytes === Number.POSITIVE_INFINITY;
  if (encoding === undefined && isUncapped) return response;
  const raw = response.body[Symbol.asyncIterator]();
  const source: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => raw };
  try {
    const decoded = encoding === undefined ? source : decompress(source, encoding, origin);
    const inner = (isUncapped ? decoded : capBytes(decoded, request.maxBodyBytes, origin))[
      Symbol.asyncIterator
    ]();
    const outer: AsyncIterator<Uint8Array> = {
      next: () => inner.next(),
      // The socket first: a generator that waits for it, or was never started, would not end it.
      return: async () => {
        await raw.return?.();
        return { done: true, value: await inner.return?.() };
      },
    };
    return { ...response, body: { [Symbol.asyncIterator]: () => outer } };
  } catch (error) {
    void raw.return?.();
    throw error;
  }
}
