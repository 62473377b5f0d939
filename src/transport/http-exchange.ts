/**
 * What comes back on the POST of one request. Invariants: the request is settled once, by its response or by one failure,
 * as soon as the exchange cannot bring a response any more; a response counts only on the exchange of its own request;
 * what the caller gave up is settled in silence.
 */
import type { LinkedAbort } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { JsonRpcMessage, RequestId } from "../protocol/jsonrpc.ts";
import {
  badAnswer,
  classifyContentType,
  classifyErrorStatus,
  redirectError,
  stripBom,
} from "./http-answer.ts";
import type { EventReceiver, StreamSummary } from "./http-events.ts";
import { readEvents } from "./http-events.ts";
import { answers, isResponse, withId } from "./http-message.ts";
import type { HttpResponse } from "./http-port.ts";
import { resumeStream } from "./http-resume.ts";
import { readSample, readText } from "./http-text.ts";
import { parseMessageText } from "./message-text.ts";
import type { HttpSession } from "./session.ts";
import type { SseParser } from "./sse.ts";
import { createSseParser } from "./sse.ts";
import type { MessageOrigin, TransportSink } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface ExchangeContext {
  readonly url: URL;
  readonly clock: Clock;
  readonly session: HttpSession;
  readonly messageBytes: number;
  /** Tells the owner; does nothing once the transport is over. */
  readonly sink: TransportSink;
  /** Opens a GET stream for a resumption. */
  readonly get: (lastEventId: string, signal: AbortSignal) => Promise<HttpResponse>;
  /** The server does not know the session any more. */
  readonly sessionLost: (id: string) => void;
}

export interface RequestExchange {
  readonly id: RequestId;
  /** The session id that the request carried. */
  readonly sessionId: string | undefined;
  readonly response: HttpResponse;
  /** Aborted by the caller or by the end of the transport. */
  readonly exchange: LinkedAbort;
}

/** After its response a stream has so long to end by itself, so that its socket can be used again. */
const LINGER_MS = 1000;

/** Ends the exchange of a response whose body nobody wants. */
export async function discard(response: HttpResponse): Promise<void> {
  await response.body[Symbol.asyncIterator]().return?.();
}

/** Reads the response to its end and settles the request. Never rejects. */
export async function readResponse(context: ExchangeContext, request: RequestExchange): Promise<void> {
  const { clock, sink } = context;
  const { id, sessionId, response, exchange } = request;
  const { origin } = context.url;
  const { status } = response;
  const { signal } = exchange;
  let isSettled = false;

  const fail = (error: PortcullisError): void => {
    if (isSettled || signal.aborted) return;
    isSettled = true;
    if (error.code === "session_lost" && sessionId !== undefined) context.sessionLost(sessionId);
    sink.requestFailed(id, error);
  };

  const deliver = (message: JsonRpcMessage, httpStatus: number): void => {
    if (signal.aborted) return;
    const from: MessageOrigin = { requestId: id, httpStatus };
    if (!isResponse(message)) {
      sink.message(message, from);
    } else if (isSettled) {
      sink.odd({ kind: "http.second-response", sample: "a further response on the same exchange" });
    } else if (answers(message, id)) {
      isSettled = true;
      sink.message(withId(message, id), from);
    } else {
      const text = JSON.stringify(message).slice(0, 400);
      fail(badAnswer(response, origin, "the response is for another request, or says nothing", text));
    }
  };

  const takeJson = (body: string, isOdd: boolean): void => {
    const text = stripBom(body);
    const parsed = parseMessageText(text, "http.noise-body");
    if (parsed.excess !== undefined) fail(tooComplex(origin));
    for (const message of parsed.messages) deliver(message, status);
    if (!isSettled) {
      fail(badAnswer(response, origin, "this is no response to the request", text));
      return;
    }
    for (const oddity of parsed.oddities) sink.odd(oddity);
    if (isOdd) sink.odd({ kind: "http.content-type", sample: oddType(response) });
  };

  const readStream = async (): Promise<void> => {
    const parser = createSseParser(context.messageBytes);
    const startedMs = clock.monotonic();
    let summary: StreamSummary = { messages: 0 };
    let broken: PortcullisError | undefined;
    let linger: Timer | undefined;
    const receiver: EventReceiver = {
      message(message) {
        deliver(message, status);
        if (isSettled)
          linger ??= clock.timer(LINGER_MS, () => exchange.abort(new Error("the response is there")));
      },
      odd: (oddity) => sink.odd(oddity),
    };
    try {
      summary = await readEvents(response.body, parser, receiver);
    } catch (error) {
      broken = toPortcullisError(error, "connection_lost");
    }
    linger?.cancel();
    if (isSettled || signal.aborted) return;
    if (summary.sample !== undefined) {
      fail(badAnswer(response, origin, "this is no event stream", summary.sample));
      return;
    }
    if (isResumable(context, parser, broken)) {
      const retryMs = parser.retryMs();
      broken = await resumeStream({
        clock,
        signal,
        maxEventBytes: context.messageBytes,
        get: context.get,
        receiver: { message: (message) => deliver(message, 200), odd: (oddity) => sink.odd(oddity) },
        isSettled: () => isSettled,
        lastEventId: parser.lastEventId() ?? "",
        end: {
          kind: "ended",
          messages: summary.messages,
          openForMs: clock.monotonic() - startedMs,
          ...(retryMs === undefined ? {} : { retryMs }),
        },
      });
    }
    fail(endedEarly(origin, status, broken));
  };

  const readJson = (isOdd: boolean): void | Promise<void> => {
    const text = readText(response.body, context.messageBytes);
    return typeof text === "string" ? takeJson(text, isOdd) : text.then((late) => takeJson(late, isOdd));
  };

  const readOther = async (): Promise<void> => {
    if (status >= 400) {
      const text = await readSample(response.body, clock);
      const verdict = classifyErrorStatus(response, text, {
        origin,
        nowMs: clock.now(),
        hadSession: sessionId !== undefined,
      });
      if (verdict.kind === "error") fail(verdict.error);
      else deliver({ ...verdict.message, id }, status);
      return;
    }
    if (status >= 300) {
      await discard(response);
      fail(redirectError(response, context.url, "it is not followed"));
      return;
    }
    fail(
      badAnswer(response, origin, "this is no answer to a request", await readSample(response.body, clock)),
    );
  };

  const read = (): void | Promise<void> => {
    if (status >= 300) return readOther();
    const form = classifyContentType(response.headers["content-type"]);
    if (form === "sse") return readStream();
    if (form === "foreign" || status === 204) return readOther();
    return readJson(form === "unlabelled" || status !== 200);
  };

  try {
    // An answer that is there whole is not waited for.
    const reading = read();
    if (reading !== undefined) await reading;
  } catch (error) {
    fail(toPortcullisError(error, "connection_lost"));
  }
}

/** Only a legacy stream that named an event id can be taken up again; one beyond the cap is not wanted again. */
function isResumable(
  context: ExchangeContext,
  parser: SseParser,
  broken: PortcullisError | undefined,
): boolean {
  if (broken?.code === "message_too_large" || context.session.settled()?.era !== "legacy") return false;
  return (parser.lastEventId() ?? "") !== "";
}

function endedEarly(origin: string, status: number, broken: PortcullisError | undefined): PortcullisError {
  return new PortcullisError(
    broken?.code ?? "connection_lost",
    `${origin}: the stream ended without the response`,
    {
      ...(broken === undefined ? {} : { cause: broken }),
      data: { status, ...broken?.data, wasSent: true },
    },
  );
}

function tooComplex(origin: string): PortcullisError {
  return new PortcullisError("message_too_large", `${origin}: the answer has too many levels or parts`, {
    data: { wasSent: true },
  });
}

function oddType(response: HttpResponse): string {
  return `${response.status} ${visibleSample(response.headers["content-type"] ?? "none")}`;
}
