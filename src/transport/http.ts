/**
 * The Streamable HTTP transport of both eras, over an `HttpPort` (transports/streamable-http; 2025-11-25 transports).
 * Modern: one POST per request, nothing else. Legacy: also sessions, the optional server stream, resumption and DELETE.
 * There is no connection to lose: single exchanges fail, and only `close` ends the transport. It owns its port.
 */
import { linkAbort } from "../base/abort.ts";
import type { LinkedAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { createRoster } from "../base/roster.ts";
import { PortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { createServerStream } from "./http-listen.ts";
import { isRequest, metaRevision } from "./http-message.ts";
import type { CallerHeaders, HttpPort } from "./http-port.ts";
import { post } from "./http-post.ts";
import type { PostContext } from "./http-post.ts";
import { createOddityMeter } from "./oddity-meter.ts";
import { createHttpSession, isHandshake } from "./session.ts";
import type { CloseReport, Transport, TransportSink } from "./transport.ts";

export interface HttpTransportLimits {
  /** One JSON body or one event, decompressed; default 16 MiB. */
  readonly messageBytes?: number;
  /** Milliseconds until a response head; default 0: the signal of each `send` alone decides. */
  readonly headTimeoutMs?: number;
  /** Milliseconds for the DELETE of a session on close; default 2,000. */
  readonly closeTimeoutMs?: number;
}

export interface HttpTransportOptions {
  readonly url: URL;
  /** Headers of the configuration and of authorization, made anew for every request so that secrets are late. */
  readonly headers: () => CallerHeaders | Promise<CallerHeaders>;
  /** Used by this transport alone, and closed with it. */
  readonly port: HttpPort;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: HttpTransportLimits;
}

type State =
  | { readonly kind: "new" }
  | { readonly kind: "open"; readonly sink: TransportSink }
  | { readonly kind: "closed"; readonly report: Promise<CloseReport> };

export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { url, port, clock, random, limits = {} } = options;
  const messageBytes = limits.messageBytes ?? 16 * 1024 * 1024;
  const session = createHttpSession();
  const exchanges = createRoster<LinkedAbort>();
  let state: State = { kind: "new" };
  let isInitialized = false;

  const oddities = createOddityMeter(clock, (oddity) => {
    if (state.kind === "open") state.sink.odd(oddity);
  });
  const sink: TransportSink = {
    message: (message, origin) => {
      if (state.kind === "open") state.sink.message(message, origin);
    },
    requestFailed: (id, error) => {
      if (state.kind === "open") state.sink.requestFailed(id, error);
    },
    closed: () => undefined,
    odd: (oddity) => oddities.note(oddity),
  };

  const get = async (lastEventId: string | undefined, signal: AbortSignal) =>
    port.request({
      method: "GET",
      url,
      headers: {
        ...(await options.headers()),
        accept: "text/event-stream",
        ...session.streamHeaders(),
        ...(lastEventId === undefined || lastEventId === "" ? {} : { "last-event-id": lastEventId }),
      },
      signal,
      idleTimeoutMs: 0,
      maxBodyBytes: Number.POSITIVE_INFINITY,
    });

  const serverStream = createServerStream({
    clock,
    random,
    maxEventBytes: messageBytes,
    get,
    receiver: { message: (message) => sink.message(message, {}), odd: (oddity) => sink.odd(oddity) },
  });

  /** The server stream belongs after the whole handshake: before it, servers may refuse it for good. */
  const listenWhenReady = (): void => {
    if (state.kind === "open" && isInitialized && session.settled()?.era === "legacy") serverStream.start();
  };

  const context: PostContext = {
    url,
    port,
    clock,
    session,
    messageBytes,
    headTimeoutMs: limits.headTimeoutMs ?? 0,
    sink,
    callerHeaders: options.headers,
    get,
    sessionLost(id) {
      session.lose(id);
      isInitialized = false;
      serverStream.stop();
    },
    accepted(message) {
      if (!("method" in message) || message.method !== "notifications/initialized") return;
      isInitialized = true;
      listenWhenReady();
    },
  };

  const endSession = async (): Promise<string | undefined> => {
    if (session.openId() === undefined) return undefined;
    const abort = new AbortController();
    const timer = clock.timer(limits.closeTimeoutMs ?? 2000, () =>
      abort.abort(new Error("the server took too long")),
    );
    try {
      const headers = { ...(await options.headers()), ...session.streamHeaders() };
      const request = {
        method: "DELETE" as const,
        url,
        headers,
        signal: abort.signal,
        maxBodyBytes: 64 * 1024,
      };
      const response = await port.request(request);
      await response.body[Symbol.asyncIterator]().return?.();
      // 405: the server does not let clients end sessions, which is its right.
      return response.status < 400 || response.status === 405 || response.status === 404
        ? undefined
        : `the session was not ended: status ${response.status}`;
    } catch (error) {
      return `the session was not ended: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      timer.cancel();
    }
  };

  const end = async (): Promise<CloseReport> => {
    serverStream.stop();
    const detail = await endSession();
    await port.close().catch(() => undefined);
    return detail === undefined ? { how: "clean" } : { how: "clean", detail };
  };

  const send = (
    message: JsonRpcMessage,
    exchange: LinkedAbort,
    sendOptions: Parameters<Transport["send"]>[1],
  ): Promise<void> => {
    const seat = exchanges.add(exchange);
    if (isHandshake(message)) {
      isInitialized = false;
      serverStream.stop();
    }
    const release = (): void => {
      exchanges.remove(seat);
      exchange.unlink();
    };
    return post(context, message, sendOptions, exchange).then(
      ({ done }) => void done.then(release),
      (error: unknown) => {
        release();
        throw error;
      },
    );
  };

  return {
    kind: "http",
    open(opened, signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (state.kind !== "new")
        return Promise.reject(new PortcullisError("internal", "the transport was opened before"));
      state = { kind: "open", sink: opened };
      return Promise.resolve();
    },
    send(message, sendOptions) {
      if (state.kind !== "open") {
        const error = new PortcullisError("connection_lost", `${url.origin}: the transport is not open`, {
          data: { wasSent: false },
        });
        return Promise.reject(error);
      }
      // Revision 2026-07-28 defines no client notification and no response over HTTP: there is nowhere to send one.
      if (!isRequest(message) && (session.settled()?.era === "modern" || metaRevision(message) !== undefined))
        return Promise.resolve();
      return send(message, linkAbort(sendOptions.signal), sendOptions);
    },
    settle(protocol) {
      session.settle(protocol);
      if (protocol.era === "modern") serverStream.stop();
      listenWhenReady();
    },
    close() {
      if (state.kind === "closed") return state.report;
      const last = state.kind === "open" ? state.sink : undefined;
      const { promise, resolve } = Promise.withResolvers<CloseReport>();
      state = { kind: "closed", report: promise };
      for (const exchange of exchanges.list()) exchange.abort(new Error("the transport is closed"));
      last?.closed();
      void end().then(resolve);
      return promise;
    },
  };
}
