/**
 * One request on the wire: sent under a new id, ended by its answer, its time, its signal or the end of the transport.
 *
 * Invariants: `exchange` never rejects; what ends first wins; a request that is given up after it was sent is cancelled on
 * the wire in the way of its era and transport (patterns/cancellation), `initialize` never; the answer to it that comes
 * later goes to `onLate` alone.
 */
import { abortReason, linkAbort, onAbort, type LinkedAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { notifications } from "../protocol/methods.ts";
import type { JsonRpcNotification } from "../protocol/jsonrpc.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Progress } from "../protocol/types.ts";
import type { SendOptions, Transport } from "../transport/transport.ts";
import type { Correlation, ExchangeEnd, LateAnswer } from "./correlation.ts";
import type { InputHandler } from "./input-handler.ts";
import { fromTransportError, givenUpError, requestError } from "./remote-error.ts";

interface ExchangeRequest {
  readonly id: number;
  readonly method: string;
  /** Complete, `_meta` included. */
  readonly params: JsonObject | undefined;
  readonly era: Era;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly mayHaveEffect?: boolean | undefined;
  /** Infinity: no limit. */
  readonly idleTimeoutMs: number;
  /** How much of the total is left, and the total as the caller knows it (for the message). Infinity: no limit. */
  readonly totalLeftMs: number;
  readonly totalTimeoutMs: number;
  /** The probe and `initialize` are never cancelled on the wire. */
  readonly isHandshake?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Who answers what the server asks for this request. */
  readonly inputs?: InputHandler | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onLate?: ((answer: LateAnswer) => void) | undefined;
}

/** An answer may still come for so long after a request was given up; HTTP keeps a legacy stream open for less. */
const LATE_MS = 600_000;
const LATE_STREAM_MS = 10_000;

export type Exchange = (request: ExchangeRequest) => Promise<ExchangeEnd>;

export function createExchange(options: {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly correlation: Correlation;
}): Exchange {
  const { transport, clock, correlation } = options;
  const isHttp = transport.kind === "http";

  const cancelOnWire = (request: ExchangeRequest, reason: PortcullisError, controller: LinkedAbort): void => {
    const { id } = request;
    if (isHttp && (request.isHandshake === true || request.era === "modern")) {
      controller.abort(reason);
      return;
    }
    if (request.isHandshake !== true) {
      const params: JsonObject = {
        requestId: id,
        reason: reason.code === "timed_out" ? "timed out" : "no longer wanted",
      };
      const message: JsonRpcNotification = { jsonrpc: "2.0", method: notifications.cancelled, params };
      const headers = request.headers === undefined ? {} : { headers: request.headers };
      transport.send(message, headers).catch(() => undefined);
    }
    if (isHttp) correlation.awaitLate(id, request.onLate, LATE_STREAM_MS, () => controller.abort(reason));
    else correlation.awaitLate(id, request.onLate, LATE_MS);
  };

  const send = (request: ExchangeRequest, controller: LinkedAbort): Promise<void> => {
    const { id, method, params } = request;
    try {
      const message =
        params === undefined
          ? { jsonrpc: "2.0" as const, id, method }
          : { jsonrpc: "2.0" as const, id, method, params };
      return transport.send(message, sendOptions(request, controller));
    } catch (error) {
      return Promise.reject(error);
    }
  };

  return (request) =>
    new Promise<ExchangeEnd>((resolve) => {
      const { id, method, signal } = request;
      if (signal?.aborted === true) {
        resolve({ kind: "broken", id, error: givenUpError(method, abortReason(signal), false) });
        return;
      }
      const controller = linkAbort();
      let isSending = true;
      let stopListening: (() => void) | undefined;
      /** Set while it is over but not yet known whether the message had left the queue. */
      let ending: { readonly reason: PortcullisError; readonly cancels: boolean } | undefined;

      const settle = (end: ExchangeEnd): void => {
        stopListening?.();
        resolve(end);
      };

      const settleEnding = (wasSent: boolean): void => {
        if (ending === undefined) return;
        const { reason, cancels } = ending;
        ending = undefined;
        if (wasSent && cancels) cancelOnWire(request, reason, controller);
        settle({ kind: "broken", id, error: wasSent ? reason : fromTransportError(method, reason, false) });
      };

      /** The request is out of the map: tells the caller at once, or one turn later where the queue still has to say. */
      const finish = (reason: PortcullisError, cancels: boolean): void => {
        ending = { reason, cancels };
        if (!isSending || isHttp) {
          settleEnding(true);
          return;
        }
        controller.abort(reason);
        setImmediate(() => settleEnding(true));
      };

      const giveUp = (reason: PortcullisError): void => {
        if (correlation.take(id) !== undefined) finish(reason, true);
      };

      const nowMs = clock.monotonic();
      correlation.add({
        id,
        method,
        idleTimeoutMs: request.idleTimeoutMs,
        idleDueMs: nowMs + request.idleTimeoutMs,
        totalDueMs: nowMs + request.totalLeftMs,
        onProgress: request.onProgress,
        onLate: request.onLate,
        inputs: request.inputs,
        end: (end) => (end.kind === "broken" ? finish(end.error, false) : settle(end)),
        expire: (which) => giveUp(timedOut(request, which)),
      });
      if (signal !== undefined)
        stopListening = onAbort(signal, (reason) => giveUp(givenUpError(method, reason, true)));

      send(request, controller).then(
        () => {
          isSending = false;
        },
        (cause: unknown) => {
          isSending = false;
          if (ending !== undefined) {
            settleEnding(false);
            return;
          }
          if (correlation.take(id) === undefined) return;
          const wasSent = cause instanceof PortcullisError && cause.data["wasSent"] === true;
          const failure =
            cause instanceof PortcullisError
              ? cause
              : new PortcullisError("connection_lost", `\`${method}\` could not be sent`, { cause });
          settle({ kind: "broken", id, error: fromTransportError(method, failure, wasSent) });
        },
      );
    });
}

function sendOptions(request: ExchangeRequest, controller: LinkedAbort): SendOptions {
  const { headers, mayHaveEffect } = request;
  return {
    signal: controller.signal,
    ...(headers === undefined ? {} : { headers }),
    ...(mayHaveEffect === undefined ? {} : { mayHaveEffect }),
  };
}

function timedOut(request: ExchangeRequest, which: "idle" | "total"): PortcullisError {
  const { method, idleTimeoutMs, totalTimeoutMs } = request;
  const limits = `limits: ${seconds(idleTimeoutMs)} without progress, ${seconds(totalTimeoutMs)} in all`;
  return requestError("timed_out", method, `\`${method}\` was not answered in time (${limits})`, {
    wasSent: true,
    data: { limit: which, idleTimeoutMs, totalTimeoutMs },
  });
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${ms / 1_000} s` : "no limit";
}
