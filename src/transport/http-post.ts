/** One message over one POST, both eras (transports/streamable-http): sends it and hands the response on. */
import { abortReason } from "../base/abort.ts";
import type { LinkedAbort } from "../base/abort.ts";
import { toPortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { classifyContentType, redirectTarget } from "./http-answer.ts";
import { discard, readResponse } from "./http-exchange.ts";
import type { ExchangeContext } from "./http-exchange.ts";
import { isRequest } from "./http-message.ts";
import type { CallerHeaders, HttpPort, HttpResponse } from "./http-port.ts";
import { readSample } from "./http-text.ts";
import { isHandshake } from "./session.ts";
import type { SendOptions } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface PostContext extends ExchangeContext {
  readonly port: HttpPort;
  /** Milliseconds; 0: no limit but the signal. */
  readonly headTimeoutMs: number;
  /** The caller's headers, secrets among them; asked for anew for every request. */
  readonly callerHeaders: () => CallerHeaders | Promise<CallerHeaders>;
  /** A message without response was taken by the server. */
  readonly accepted: (message: JsonRpcMessage) => void;
}

/**
 * Sends `message`; resolves when the response head is there, and goes on reading in the background.
 *
 * @param exchange aborts the whole; unlinked here when the exchange is over.
 * @returns when everything about the exchange is over (`done`); never rejects.
 * @throws what `Transport.send` throws.
 */
export async function post(
  context: PostContext,
  message: JsonRpcMessage,
  options: SendOptions,
  exchange: LinkedAbort,
): Promise<{ readonly done: Promise<void> }> {
  const id = isRequest(message) ? message.id : undefined;
  if (isHandshake(message)) context.session.forget();
  const sessionId = context.session.idFor(message);
  let response: HttpResponse;
  try {
    response = await ask(context, message, options, exchange.signal);
  } catch (error) {
    if (exchange.signal.aborted) throw abortReason(exchange.signal);
    const failure = toPortcullisError(error, "connection_lost");
    if (failure.data["wasSent"] !== true) throw failure;
    if (id === undefined)
      context.sink.odd({ kind: "http.message-lost", sample: visibleSample(failure.message) });
    else context.sink.requestFailed(id, failure);
    return { done: Promise.resolve() };
  }
  if (isHandshake(message) && isSuccess(response) && !context.session.accept(response)) {
    context.sink.odd({ kind: "http.session-id", sample: "the session id is not usable text" });
  }
  const done =
    id === undefined
      ? finishMessage(context, message, sessionId, response)
      : readResponse(context, { id, sessionId, response, exchange });
  return { done };
}

function isSuccess(response: HttpResponse): boolean {
  return response.status >= 200 && response.status < 300;
}

/** The POST itself; a redirect to the same origin that keeps method and body (307, 308) is followed once. */
async function ask(
  context: PostContext,
  message: JsonRpcMessage,
  options: SendOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { url, port } = context;
  const made = context.callerHeaders();
  const caller = made instanceof Promise ? await made : made;
  const request = {
    method: "POST" as const,
    headers: {
      ...caller,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...context.session.headersFor(message),
      ...options.headers,
    },
    body: JSON.stringify(message),
    signal,
    headTimeoutMs: context.headTimeoutMs,
    idleTimeoutMs: 0,
    maxBodyBytes: Number.POSITIVE_INFINITY,
    needsFreshSocket: options.mayHaveEffect === true,
  };
  const response = await port.request({ ...request, url });
  if (response.status !== 307 && response.status !== 308) return response;
  const target = redirectTarget(response, url);
  if (
    target === undefined ||
    target.origin !== url.origin ||
    target.username !== "" ||
    target.password !== ""
  ) {
    return response;
  }
  await discard(response);
  return port.request({ ...request, url: target });
}

/** The exchange of a notification or a response: there is nothing to deliver, only a refusal to note. */
async function finishMessage(
  context: PostContext,
  message: JsonRpcMessage,
  sessionId: string | undefined,
  response: HttpResponse,
): Promise<void> {
  const isStream = classifyContentType(response.headers["content-type"]) === "sse";
  const text = isStream ? "" : await readSample(response.body, context.clock);
  if (isStream) await discard(response);
  if (isSuccess(response)) {
    context.accepted(message);
    return;
  }
  if (sessionId !== undefined && response.status === 404) context.sessionLost(sessionId);
  const sample = `${response.status} ${visibleSample(text)}`;
  context.sink.odd({ kind: "http.message-refused", sample });
}
