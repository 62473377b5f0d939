/**
 * The writing end of Server-Sent Events on a plain response: nothing is queued without bound, and a client that stopped
 * reading is let go. Source: transports/streamable-http#receiving-messages, WHATWG HTML "Server-sent events".
 */
import type { ServerResponse } from "node:http";
import type { Pulse } from "./pulse.ts";

export interface EventStream {
  readonly isOpen: boolean;
  /** Whether the client reads so slowly that optional events had better be left out. */
  readonly isSlow: boolean;
  /** One event whose data is JSON. Nothing happens once the stream is over. */
  send(data: unknown): void;
  /** Ends the stream in good order. */
  end(): void;
}

/** Bytes that wait for a slow client before optional events are left out, and before it is let go. */
const SLOW_BYTES = 1024 * 1024;
const LOST_BYTES = 32 * 1024 * 1024;
/** Pulses between two comments, and without a byte taken before a client counts as gone. */
const COMMENT_PULSES = 3;
const STALLED_PULSES = 6;

/** @param headers besides those of every event stream. */
export function openEventStream(
  response: ServerResponse,
  pulse: Pulse,
  headers: Readonly<Record<string, string>> = {},
): EventStream {
  let sincePulses = 0;
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    ...headers,
  });
  // A comment first: the head leaves at once, and the client knows that it is heard.
  response.write(":\n\n");
  const leave = pulse.add(() => {
    sincePulses += 1;
    if (sincePulses % COMMENT_PULSES === 0 && !response.writableEnded) response.write(":\n\n");
  });
  response.once("close", leave);

  return {
    get isOpen() {
      return !response.writableEnded && !response.destroyed;
    },
    get isSlow() {
      return response.writableLength > SLOW_BYTES;
    },
    send(data) {
      if (response.writableEnded || response.destroyed) return;
      sincePulses = 0;
      response.write(`data: ${JSON.stringify(data)}\n\n`);
      if (response.writableLength > LOST_BYTES) response.destroy();
    },
    end() {
      leave();
      if (!response.writableEnded) response.end();
    },
  };
}

/** Lets a client go that takes no byte of what waits for it. Ends by itself with the response. */
export function guardSlowClient(response: ServerResponse, pulse: Pulse): void {
  let taken = 0;
  let stalledPulses = 0;
  // The request's: a response that waits for an earlier one on the same socket has none yet.
  const { socket } = response.req;
  const leave = pulse.add(() => {
    const now = socket.bytesWritten;
    const waiting = response.writableLength;
    stalledPulses = waiting > 0 && now === taken ? stalledPulses + 1 : 0;
    taken = now;
    if (stalledPulses >= STALLED_PULSES) response.destroy();
  });
  response.once("close", leave);
}
