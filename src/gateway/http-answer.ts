/**
 * The answer to one POST: JSON where it comes quickly and alone, an event stream as soon as there is something to say before
 * it, or when it takes long: clients and proxies give up on a response without a head.
 * Source: transports/streamable-http#sending-messages.
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { JsonRpcErrorObject, RequestId } from "../protocol/jsonrpc.ts";
import { guardSlowClient, openEventStream, type EventStream } from "./event-stream.ts";
import type { Pulse } from "./pulse.ts";

/** What the client takes. */
export interface Accepted {
  readonly json: boolean;
  readonly eventStream: boolean;
}

/** Reads `Accept`; absent means anything. Weights of zero are not worth honouring here. */
export function readAccept(headers: IncomingHttpHeaders): Accepted {
  const accept = headers.accept?.toLowerCase();
  if (accept === undefined || accept.includes("*/*")) return { json: true, eventStream: true };
  const text = accept.includes("text/*");
  return {
    json: accept.includes("application/json") || accept.includes("application/*"),
    eventStream: text || accept.includes("text/event-stream"),
  };
}

export interface HttpAnswer {
  /** A notification that belongs to the request. Left out where the client takes no event stream, or reads too slowly. */
  notify(notification: object): void;
  /** A request to the client that belongs to the request. @returns false where the client takes no event stream, or is gone. */
  send(message: object): boolean;
  /** The one response, or `null` for none. @param status counts only while no head has left. */
  finish(status: number, message: object | null, headers?: Readonly<Record<string, string>>): void;
}

const HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;
/** Pulses before a silent answer becomes an event stream. */
const PATIENCE_PULSES = 2;

export function openHttpAnswer(response: ServerResponse, accepted: Accepted, pulse: Pulse): HttpAnswer {
  let stream: EventStream | undefined;
  let pulses = 0;
  const upgrade = (): EventStream | undefined => {
    if (response.headersSent || response.destroyed || !accepted.eventStream) return stream;
    leave();
    stream = openEventStream(response, pulse, { "x-content-type-options": "nosniff" });
    return stream;
  };
  const leave = pulse.add(() => {
    pulses += 1;
    if (pulses >= PATIENCE_PULSES) upgrade();
  });
  response.once("close", leave);

  return {
    notify(notification) {
      const open = upgrade();
      if (open !== undefined && !open.isSlow) open.send(notification);
    },
    send(message) {
      const open = upgrade();
      if (open === undefined || !open.isOpen) return false;
      open.send(message);
      return true;
    },
    finish(status, message, headers) {
      leave();
      if (response.writableEnded || response.destroyed) return;
      if (stream === undefined && (accepted.json || status !== 200)) {
        sendJson(response, status, message, headers);
        // Mostly the operating system has it all by now, and there is nothing to wait for.
        if (response.writableLength > 0) guardSlowClient(response, pulse);
        return;
      }
      guardSlowClient(response, pulse);
      const open = stream ?? openEventStream(response, pulse, headers);
      if (message !== null) open.send(message);
      open.end();
    },
  };
}

/** A whole JSON response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  message: object | null,
  headers?: Readonly<Record<string, string>>,
): void {
  if (message === null) {
    response.writeHead(status, { "cache-control": "no-store", "content-length": "0", ...headers }).end();
    return;
  }
  const text = JSON.stringify(message);
  response.writeHead(status, { ...HEADERS, "content-length": Buffer.byteLength(text), ...headers }).end(text);
}

/** `id` is null where it could not be told. */
export function rpcFailure(id: RequestId | null, error: JsonRpcErrorObject): object {
  return { jsonrpc: "2.0", id, error };
}
