/**
 * One request and its response on one slot: from undici's callbacks to an `HttpResponse`. Invariant: it ends once, and
 * then its timer, its listener and its slot are given back.
 */
import type { Dispatcher } from "undici";
import { onAbort } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { HttpRequest, HttpResponse } from "../transport/http-port.ts";
import { createBody } from "./body.ts";
import { fromNetError } from "./net-error.ts";
import type { Slot, SocketPool } from "./socket-pool.ts";

const HEAD_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 300_000;

type Phase = "waiting" | "head" | "body" | "over";

/** Where a request goes, and its headers as they are sent. */
export interface ExchangeHead {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends `request` when `pool` has a socket for it. The response's body is raw: as it was on the wire, without a cap. */
export function exchange(
  pool: SocketPool,
  request: HttpRequest,
  head: ExchangeHead,
  clock: Clock,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    const { origin } = head;
    let phase: Phase = "waiting";
    let slot: Slot | undefined;
    let wasSent = false;
    let controller: Dispatcher.DispatchController | undefined;
    let leaveQueue: (() => void) | undefined;
    let headTimer: Timer | undefined;

    const context = () => ({
      origin,
      wasSent,
      ...(slot === undefined ? {} : { wasReused: slot.carried > 0 }),
    });

    const timeout = (what: string, afterMs: number): PortcullisError =>
      new PortcullisError("timed_out", `${origin}: ${what} within ${afterMs} ms`, { data: context() });

    const end = (error: Error | undefined): void => {
      if (phase === "over") return;
      const hadHead = phase === "body";
      phase = "over";
      headTimer?.cancel();
      stopListening();
      leaveQueue?.();
      if (error === undefined) body.end();
      else if (hadHead) body.fail(error);
      else reject(error);
      if (slot === undefined) return;
      if (error === undefined) pool.give(slot);
      else pool.drop(slot);
    };

    const stopListening = onAbort(signal, (reason) => end(reason));

    const idleTimeoutMs = request.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
    const body = createBody(
      {
        pause: () => controller?.pause(),
        resume: () => controller?.resume(),
        cancelled: () => end(new Error("the reader gave up")),
        idled: () => end(timeout("no byte of the answer came", idleTimeoutMs)),
      },
      clock,
      idleTimeoutMs,
    );

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (phase === "over") started.abort(new Error("the exchange is over"));
        else wasSent = true;
      },
      onResponseStart(_controller, status, rawHeaders) {
        // 1xx is a note before the response.
        if (status < 200 || phase !== "head") return;
        phase = "body";
        headTimer?.cancel();
        resolve({ status, headers: joinHeaders(rawHeaders), body });
      },
      onResponseData: (_controller, chunk) => body.push(chunk),
      onResponseEnd: () => end(undefined),
      onResponseError: (_controller, error) => end(fromNetError(error, context())),
    };

    const start = (taken: Slot): void => {
      slot = taken;
      phase = "head";
      taken.client.dispatch(
        {
          path: head.path,
          method: request.method,
          headers: head.headers as Record<string, string>,
          body: request.body ?? null,
        },
        handler,
      );
    };

    const headTimeoutMs = request.headTimeoutMs ?? HEAD_TIMEOUT_MS;
    if (headTimeoutMs > 0)
      headTimer = clock.timer(headTimeoutMs, () => end(timeout("no answer", headTimeoutMs)));
    const free = pool.take(request.needsFreshSocket === true);
    if (free !== undefined) start(free);
    else leaveQueue = pool.wait({ start, closed: () => end(closedError(origin)) });
  });
}

/** What a request gets that comes after `close()`, or was still queued then. */
export function closedError(origin: string): PortcullisError {
  return new PortcullisError("connection_lost", `${origin}: the connection was closed by us`, {
    data: { wasSent: false },
  });
}

/** One value per name; `set-cookie` is dropped: we keep no cookies, and nothing may come to rely on one. */
function joinHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const joined = Object.create(null) as Record<string, string>;
  for (const name of Object.keys(raw)) {
    const value = raw[name];
    if (value === undefined || name === "set-cookie") continue;
    joined[name] = typeof value === "string" ? value : value.join(", ");
  }
  return joined;
}
