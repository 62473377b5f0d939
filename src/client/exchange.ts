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
import type { JsonRpcNotification, JsonRpcRequest } from "../protocol/jsonrpc.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Progress } from "../protocol/types.ts";
import type { SendOptions, Transport } from "../transport/transport.ts";
import type { Correlation, ExchangeEnd, LateAnswer, PendingRequest, ProgressMark } from "./correlation.ts";
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
  return (request) => {
    const { id, method, signal } = request;
    if (signal?.aborted === true) {
      const error = givenUpError(method, abortReason(signal), false);
      return Promise.resolve({ kind: "broken", id, error });
    }
    return new Promise((resolve) =>
      new InFlight({ transport, correlation, request, resolve }, clock.monotonic()).start(),
    );
  };
}

interface InFlightOptions {
  readonly transport: Transport;
  readonly correlation: Correlation;
  readonly request: ExchangeRequest;
  /** Called once, when it is over. */
  readonly resolve: (end: ExchangeEnd) => void;
}

/** A class, because every request makes one: closures would cost it each time. */
class InFlight implements PendingRequest {
  readonly id: number;
  readonly method: string;
  readonly idleTimeoutMs: number;
  idleDueMs: number;
  totalDueMs: number;
  pause?: PendingRequest["pause"];
  suspicion?: PortcullisError;
  progress?: ProgressMark;
  readonly onProgress: PendingRequest["onProgress"];
  readonly onLate: PendingRequest["onLate"];
  readonly inputs: InputHandler | undefined;
  readonly #options: InFlightOptions;
  readonly #controller = linkAbort();
  readonly #isHttp: boolean;
  #isSending = true;
  #stopListening: (() => void) | undefined;
  /** Set while it is over but not yet known whether the message had left the queue. */
  #ending: { readonly reason: PortcullisError; readonly cancels: boolean } | undefined;

  constructor(options: InFlightOptions, nowMs: number) {
    const { request, transport } = options;
    this.id = request.id;
    this.method = request.method;
    this.idleTimeoutMs = request.idleTimeoutMs;
    this.idleDueMs = nowMs + request.idleTimeoutMs;
    this.totalDueMs = nowMs + request.totalLeftMs;
    this.onProgress = request.onProgress;
    this.onLate = request.onLate;
    this.inputs = request.inputs;
    this.#options = options;
    this.#isHttp = transport.kind === "http";
  }

  start(): void {
    const { correlation, request } = this.#options;
    correlation.add(this);
    if (request.signal !== undefined) {
      this.#stopListening = onAbort(request.signal, (reason) =>
        this.#giveUp(givenUpError(this.method, reason, true)),
      );
    }
    this.#send().then(
      () => {
        this.#isSending = false;
      },
      (cause: unknown) => this.#sendFailed(cause),
    );
  }

  end(end: ExchangeEnd): void {
    if (end.kind === "broken") this.#finish(end.error, false);
    else this.#settle(end);
  }

  expire(which: "idle" | "total"): void {
    this.#giveUp(timedOut(this.#options.request, which));
  }

  #send(): Promise<void> {
    const { id, method } = this;
    const { request, transport } = this.#options;
    const { params } = request;
    try {
      const message: JsonRpcRequest =
        params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
      return transport.send(message, sendOptions(request, this.#controller));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  #sendFailed(cause: unknown): void {
    const { id, method } = this;
    this.#isSending = false;
    if (this.#ending !== undefined) {
      this.#settleEnding(false);
      return;
    }
    if (this.#options.correlation.take(id) === undefined) return;
    const wasSent = cause instanceof PortcullisError && cause.data["wasSent"] === true;
    const failure =
      cause instanceof PortcullisError
        ? cause
        : new PortcullisError("connection_lost", `\`${method}\` could not be sent`, { cause });
    this.#settle({ kind: "broken", id, error: fromTransportError(method, failure, wasSent) });
  }

  #giveUp(reason: PortcullisError): void {
    if (this.#options.correlation.take(this.id) !== undefined) this.#finish(reason, true);
  }

  /** The request is out of the map: tells the caller at once, or one turn later where the queue still has to say. */
  #finish(reason: PortcullisError, cancels: boolean): void {
    this.#ending = { reason, cancels };
    if (!this.#isSending || this.#isHttp) {
      this.#settleEnding(true);
      return;
    }
    this.#controller.abort(reason);
    setImmediate(() => this.#settleEnding(true));
  }

  #settleEnding(wasSent: boolean): void {
    if (this.#ending === undefined) return;
    const { id, method } = this;
    const { reason, cancels } = this.#ending;
    this.#ending = undefined;
    if (wasSent && cancels) this.#cancelOnWire(reason);
    this.#settle({
      kind: "broken",
      id,
      error: wasSent ? reason : fromTransportError(method, reason, false),
    });
  }

  #settle(end: ExchangeEnd): void {
    this.#stopListening?.();
    this.#options.resolve(end);
  }

  #cancelOnWire(reason: PortcullisError): void {
    const { id } = this;
    const { request, transport, correlation } = this.#options;
    if (this.#isHttp && (request.isHandshake === true || request.era === "modern")) {
      this.#controller.abort(reason);
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
    if (this.#isHttp)
      correlation.awaitLate(id, request.onLate, LATE_STREAM_MS, () => this.#controller.abort(reason));
    else correlation.awaitLate(id, request.onLate, LATE_MS);
  }
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
