/**
 * A response stream of the legacy era that ended early, taken up again by GET with `Last-Event-ID` (2025-11-25
 * transports, resumability). Bounded by `nextResume` and by the caller's signal, which carries the deadline.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import { classifyContentType, parseRetryAfter } from "./http-answer.ts";
import { readEvents } from "./http-events.ts";
import type { EventReceiver } from "./http-events.ts";
import { pause } from "./http-listen.ts";
import type { HttpResponse } from "./http-port.ts";
import { nextResume } from "./http-reconnect.ts";
import type { StreamEnd } from "./http-reconnect.ts";
import { createSseParser } from "./sse.ts";

export interface ResumeOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly maxEventBytes: number;
  readonly get: (lastEventId: string, signal: AbortSignal) => Promise<HttpResponse>;
  readonly receiver: EventReceiver;
  /** True once the response came. */
  readonly isSettled: () => boolean;
  readonly lastEventId: string;
  /** How the stream ended that is to be resumed. */
  readonly end: StreamEnd;
}

/** Resolves when the response came, the signal is aborted, or (with the last failure) when it is given up. Never rejects. */
export async function resumeStream(options: ResumeOptions): Promise<PortcullisError | undefined> {
  const { clock, signal } = options;
  let { lastEventId, end } = options;
  let failures = 0;
  let failure: PortcullisError | undefined;

  const resumeOnce = async (): Promise<StreamEnd> => {
    const parser = createSseParser(options.maxEventBytes);
    let messages = 0;
    const openedAtMs = clock.monotonic();
    try {
      const response = await options.get(lastEventId, signal);
      if (response.status !== 200 || classifyContentType(response.headers["content-type"]) !== "sse") {
        await response.body[Symbol.asyncIterator]().return?.();
        failure = new PortcullisError(
          "connection_lost",
          `the stream cannot be resumed: status ${response.status}`,
          {
            data: { status: response.status },
          },
        );
        const retryAfterMs = parseRetryAfter(response.headers["retry-after"], clock.now());
        return {
          kind: "refused",
          status: response.status,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        };
      }
      const receiver: EventReceiver = {
        ...options.receiver,
        message(message) {
          messages += 1;
          options.receiver.message(message);
        },
      };
      await readEvents(untilSettled(response.body, options.isSettled), parser, receiver);
    } catch (error) {
      failure = toPortcullisError(error, "connection_lost");
      if (failure.code === "message_too_large") return { kind: "refused", status: 413 };
    }
    lastEventId = parser.lastEventId() ?? lastEventId;
    const retryMs = parser.retryMs();
    const openForMs = clock.monotonic() - openedAtMs;
    return { kind: "ended", messages, openForMs, ...(retryMs === undefined ? {} : { retryMs }) };
  };

  for (;;) {
    const next = nextResume(end, failures);
    if (next.kind === "never") return failure;
    failures = next.failures;
    if (!(await pause(clock, next.delayMs, signal))) return undefined;
    end = await resumeOnce();
    if (options.isSettled() || signal.aborted) return undefined;
  }
}

/** Stops reading, and so ends the GET, as soon as the response is there. */
async function* untilSettled(
  body: AsyncIterable<Uint8Array>,
  isSettled: () => boolean,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk;
    if (isSettled()) return;
  }
}
