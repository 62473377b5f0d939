/**
 * HTTP+SSE of 2024-11-05, deprecated: one GET stream brings everything, POSTs go to the endpoint that its first event
 * names. Used only where the configuration asks for it; otherwise it is recognised, to be able to explain it. The stream
 * is the connection: when it ends, the transport is over. It owns its port.
 */
import { abortReason, linkAbort, untilAborted } from "../base/abort.ts";
import type { LinkedAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { badAnswer, classifyContentType, classifyErrorStatus, redirectError } from "./http-answer.ts";
import { readEvents } from "./http-events.ts";
import { isRequest } from "./http-message.ts";
import type { CallerHeaders, HttpPort, HttpResponse } from "./http-port.ts";
import { readSample } from "./http-text.ts";
import { createOddityMeter } from "./oddity-meter.ts";
import { createHttpSession } from "./session.ts";
import type { SseEvent } from "./sse.ts";
import { createSseParser } from "./sse.ts";
import type { CloseReport, SendOptions, Transport, TransportSink } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface SseTransportOptions {
  readonly url: URL;
  /** Made anew for every request so that secrets are late. */
  readonly headers: () => CallerHeaders | Promise<CallerHeaders>;
  /** Used by this transport alone, and closed with it. */
  readonly port: HttpPort;
  readonly clock: Clock;
  /** `messageBytes`: one event; default 16 MiB. */
  readonly limits?: { readonly messageBytes?: number };
}

type State =
  | { readonly kind: "new" }
  | { readonly kind: "opening" }
  | { readonly kind: "open"; readonly sink: TransportSink; readonly endpoint: URL }
  | { readonly kind: "over" };

/** The endpoint that the first event names: on the same origin, or nothing is sent to it. */
export function evaluateEndpoint(data: string, url: URL): URL {
  const endpoint = URL.parse(data.trim(), url.href);
  if (
    endpoint !== null &&
    endpoint.origin === url.origin &&
    endpoint.username === "" &&
    endpoint.password === ""
  ) {
    return endpoint;
  }
  const place =
    endpoint === null
      ? visibleSample(data)
      : endpoint.origin === "null"
        ? endpoint.protocol
        : endpoint.origin;
  throw new PortcullisError("egress_denied", `${url.origin} names an endpoint elsewhere: \`${place}\``, {
    data: { target: place, wasSent: false },
  });
}

/**
 * Does `url` speak HTTP+SSE? Waits for the `endpoint` event. For a server that refused both eras, before it is called
 * incompatible. @throws the signal's reason; any other failure is a no.
 */
export async function isSseServer(options: SseTransportOptions, signal: AbortSignal): Promise<boolean> {
  const exchange = linkAbort(signal);
  try {
    const response = await openStream(options, exchange.signal);
    const found = Promise.withResolvers<boolean>();
    const other = (event: SseEvent): void => found.resolve(event.type === "endpoint");
    const receiver = { message: () => found.resolve(false), odd: () => undefined, other };
    readEvents(response.body, createSseParser(64 * 1024), receiver).then(
      () => found.resolve(false),
      () => found.resolve(false),
    );
    return await untilAborted(found.promise, signal);
  } catch {
    if (signal.aborted) throw abortReason(signal);
    return false;
  } finally {
    exchange.abort(new Error("the question is answered"));
  }
}

/** The GET. @throws PortcullisError for everything but an event stream. */
async function openStream(options: SseTransportOptions, signal: AbortSignal): Promise<HttpResponse> {
  const { url, clock } = options;
  const response = await options.port.request({
    method: "GET",
    url,
    headers: { ...(await options.headers()), accept: "text/event-stream" },
    signal,
    idleTimeoutMs: 0,
    maxBodyBytes: Number.POSITIVE_INFINITY,
  });
  const { status } = response;
  if (status === 200 && classifyContentType(response.headers["content-type"]) === "sse") return response;
  const text = await readSample(response.body, clock);
  if (status >= 300 && status < 400) throw redirectError(response, url, "it is not followed");
  if (status < 400) throw badAnswer(response, url.origin, "this is no event stream", text);
  throw errorOf(response, text, options);
}

function errorOf(response: HttpResponse, text: string, options: SseTransportOptions): PortcullisError {
  const context = { origin: options.url.origin, nowMs: options.clock.now(), hadSession: false };
  const verdict = classifyErrorStatus(response, text, context);
  if (verdict.kind === "error") return verdict.error;
  return new PortcullisError(
    "http_error",
    `${options.url.origin} answered ${response.status} (\`${visibleSample(text)}\`)`,
    {
      data: { status: response.status, wasSent: true, rpcCode: verdict.message.error.code },
    },
  );
}

export function createSseTransport(options: SseTransportOptions): Transport {
  const { url, port, clock } = options;
  const messageBytes = options.limits?.messageBytes ?? 16 * 1024 * 1024;
  const session = createHttpSession();
  const stream = linkAbort();
  const exchanges = new Set<LinkedAbort>();
  let state: State = { kind: "new" };
  let closing: Promise<CloseReport> | undefined;

  const oddities = createOddityMeter(clock, (oddity) => {
    if (state.kind === "open") state.sink.odd(oddity);
  });

  const finish = (error: PortcullisError | undefined): void => {
    const last = state.kind === "open" ? state.sink : undefined;
    state = { kind: "over" };
    stream.abort(new Error("the transport is over"));
    for (const exchange of exchanges) exchange.abort(new Error("the transport is over"));
    if (error === undefined) last?.closed();
    else last?.closed(error);
  };

  /** Reads the stream to its end, which is the end of the transport. */
  const listen = async (
    response: HttpResponse,
    onEndpoint: (data: string) => void,
  ): Promise<PortcullisError> => {
    try {
      await readEvents(response.body, createSseParser(messageBytes), {
        message: (message) => {
          if (state.kind === "open") state.sink.message(message, {});
        },
        odd: (oddity) => oddities.note(oddity),
        other: (event) => {
          if (event.type === "endpoint") onEndpoint(event.data);
          else oddities.note({ kind: "http.event-type", sample: visibleSample(event.type) });
        },
      });
    } catch (error) {
      return toPortcullisError(error, "connection_lost");
    }
    return new PortcullisError("connection_lost", `${url.origin}: the server ended the event stream`, {
      data: { wasSent: true },
    });
  };

  const open = async (sink: TransportSink, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) throw abortReason(signal);
    if (state.kind !== "new") throw new PortcullisError("internal", "a transport is opened once only");
    state = { kind: "opening" };
    const onAbort = (): void => stream.abort(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    const ready = Promise.withResolvers<void>();
    const onEndpoint = (data: string): void => {
      if (state.kind !== "opening") return;
      try {
        state = { kind: "open", sink, endpoint: evaluateEndpoint(data, url) };
        ready.resolve();
      } catch (error) {
        ready.reject(error);
      }
    };
    try {
      const response = await openStream(options, stream.signal);
      void listen(response, onEndpoint).then((error) => {
        ready.reject(error);
        if (state.kind === "open") finish(error);
      });
      await untilAborted(ready.promise, stream.signal);
    } catch (error) {
      finish(undefined);
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };

  const post = async (message: JsonRpcMessage, exchange: LinkedAbort): Promise<void> => {
    if (state.kind !== "open") {
      throw new PortcullisError("connection_lost", `${url.origin}: the transport is not open`, {
        data: { wasSent: false },
      });
    }
    const { sink, endpoint } = state;
    const fail = (error: PortcullisError): void => {
      if (state.kind !== "open") return;
      if (isRequest(message)) sink.requestFailed(message.id, error);
      else oddities.note({ kind: "http.message-refused", sample: visibleSample(error.message) });
    };
    let response: HttpResponse;
    try {
      response = await port.request({
        method: "POST",
        url: endpoint,
        headers: {
          ...(await options.headers()),
          "content-type": "application/json",
          ...session.headersFor(message),
        },
        body: JSON.stringify(message),
        signal: exchange.signal,
        headTimeoutMs: 0,
        maxBodyBytes: messageBytes,
      });
    } catch (error) {
      if (exchange.signal.aborted) throw abortReason(exchange.signal);
      const failure = toPortcullisError(error, "connection_lost");
      if (failure.data["wasSent"] !== true) throw failure;
      fail(failure);
      return;
    }
    const text = await readSample(response.body, clock);
    if (response.status >= 400) fail(errorOf(response, text, options));
    else if (response.status >= 300) fail(redirectError(response, endpoint, "it is not followed"));
  };

  return {
    kind: "sse",
    open,
    async send(message: JsonRpcMessage, sendOptions: SendOptions) {
      const exchange = linkAbort(sendOptions.signal);
      if (exchange.signal.aborted) throw abortReason(exchange.signal);
      exchanges.add(exchange);
      try {
        await post(message, exchange);
      } finally {
        exchanges.delete(exchange);
        exchange.unlink();
      }
    },
    settle: (protocol) => session.settle(protocol),
    close() {
      if (closing !== undefined) return closing;
      finish(undefined);
      closing = port.close().then(
        () => ({ how: "clean" }),
        () => ({ how: "clean" }),
      );
      return closing;
    },
  };
}
