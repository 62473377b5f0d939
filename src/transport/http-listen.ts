/**
 * The optional server stream of the legacy era (GET with `Accept: text/event-stream`): never needed, never waited for.
 * It is opened after a handshake, again after an end within the limits of `http-reconnect.ts`, and never again on this
 * connection once the server refused it.
 */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { classifyContentType, parseRetryAfter } from "./http-answer.ts";
import { readEvents } from "./http-events.ts";
import type { EventReceiver } from "./http-events.ts";
import type { HttpResponse } from "./http-port.ts";
import { nextReconnect } from "./http-reconnect.ts";
import type { StreamEnd } from "./http-reconnect.ts";
import { createSseParser } from "./sse.ts";

export interface ServerStreamOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly maxEventBytes: number;
  /** Sends the GET. */
  readonly get: (lastEventId: string | undefined, signal: AbortSignal) => Promise<HttpResponse>;
  readonly receiver: EventReceiver;
}

export interface ServerStream {
  /** Opens it where it is not open and was not refused before. */
  start(): void;
  /** Ends it, until the next `start`. */
  stop(): void;
}

type State =
  | { readonly kind: "stopped" }
  | { readonly kind: "running"; readonly abort: AbortController }
  | { readonly kind: "refused" };

export function createServerStream(options: ServerStreamOptions): ServerStream {
  const { clock, random, receiver } = options;
  let state: State = { kind: "stopped" };

  const run = async (abort: AbortController): Promise<void> => {
    let failures = 0;
    let lastEventId: string | undefined;
    const openOnce = async (): Promise<StreamEnd> => {
      let openedAtMs: number | undefined;
      let messages = 0;
      const parser = createSseParser(options.maxEventBytes);
      try {
        const response = await options.get(lastEventId, abort.signal);
        if (response.status !== 200 || classifyContentType(response.headers["content-type"]) !== "sse") {
          await response.body[Symbol.asyncIterator]().return?.();
          const retryAfterMs = parseRetryAfter(response.headers["retry-after"], clock.now());
          return {
            kind: "refused",
            status: response.status,
            ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          };
        }
        openedAtMs = clock.monotonic();
        await readEvents(response.body, parser, {
          ...receiver,
          message(message) {
            messages += 1;
            if (!abort.signal.aborted) receiver.message(message);
          },
        });
      } catch {
        // A stream nobody needs may break; its end is all that matters.
      }
      if (openedAtMs === undefined) return { kind: "unreachable" };
      lastEventId = parser.lastEventId() ?? lastEventId;
      const retryMs = parser.retryMs();
      const openForMs = clock.monotonic() - openedAtMs;
      return { kind: "ended", messages, openForMs, ...(retryMs === undefined ? {} : { retryMs }) };
    };

    for (;;) {
      const end = await openOnce();
      if (abort.signal.aborted) return;
      const next = nextReconnect(end, failures, random.fraction());
      if (next.kind === "never") {
        state = { kind: "refused" };
        return;
      }
      failures = next.failures;
      if (!(await pause(clock, next.delayMs, abort.signal))) return;
    }
  };

  return {
    start() {
      if (state.kind !== "stopped") return;
      const abort = new AbortController();
      state = { kind: "running", abort };
      void run(abort);
    },
    stop() {
      if (state.kind !== "running") return;
      state.abort.abort(new Error("the server stream is not wanted any more"));
      state = { kind: "stopped" };
    },
  };
}

/** Waits without keeping the process alive. @returns false where `signal` ended the wait. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.timer(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
