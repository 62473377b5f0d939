/**
 * Which request an answer belongs to, and until when it may come. One map and one timer for all requests of a client.
 *
 * Invariants: an id is used once in the life of a client; a request ends exactly once, by whatever comes first; an answer
 * after that end is a late one, told to the request's `onLate` and to nobody else; what is kept for late answers is bounded.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { createIdTable } from "../base/id-table.ts";
import type { JsonObject } from "../base/json.ts";
import type { PortcullisError } from "../errors.ts";
import type { JsonRpcErrorObject, RequestId } from "../protocol/jsonrpc.ts";
import type { Progress } from "../protocol/types.ts";
import type { MessageOrigin } from "../transport/transport.ts";
import type { InputHandler } from "./input-handler.ts";

/** How one exchange ended. */
export type ExchangeEnd =
  | {
      readonly kind: "result";
      readonly id: number;
      readonly result: JsonObject;
      readonly origin: MessageOrigin;
    }
  | {
      readonly kind: "rpc-error";
      readonly id: number;
      readonly error: JsonRpcErrorObject;
      readonly origin: MessageOrigin;
    }
  /** No answer will come; `error.data.wasSent` says whether the request may have been read. */
  | { readonly kind: "broken"; readonly id: number; readonly error: PortcullisError };

/** An answer that came after its request had ended. */
export type LateAnswer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "rpc-error"; readonly error: JsonRpcErrorObject };

/** One request in flight. Its times are on the monotonic clock, milliseconds. */
export interface PendingRequest {
  readonly id: number;
  readonly method: string;
  readonly idleTimeoutMs: number;
  idleDueMs: number;
  totalDueMs: number;
  /** Set while somebody is asked for it: neither clock runs. Since when, and for how many questions. */
  pause?: { readonly sinceMs: number; questions: number } | undefined;
  /** Set where something said that no proper answer will come; told instead of a time-out. */
  suspicion?: PortcullisError;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  progress?: ProgressMark;
  readonly onLate?: ((answer: LateAnswer) => void) | undefined;
  /** Who answers what the server asks for this request. */
  readonly inputs?: InputHandler | undefined;
  /** Ends the request: called once. */
  end(end: ExchangeEnd): void;
  /** Its time is over: ends the request and cancels it on the wire. */
  expire(which: "idle" | "total"): void;
}

/** What was last told of a request's progress. */
export interface ProgressMark {
  readonly value: number;
  readonly windowStartMs: number;
  readonly inWindow: number;
}

interface LateEntry {
  readonly onLate: ((answer: LateAnswer) => void) | undefined;
  /** When what is held for it is given up, monotonic. */
  readonly dueMs: number;
  readonly release: (() => void) | undefined;
}

export interface Correlation {
  nextId(): number;
  /** Whether `id` was given out: an answer to it that nobody waits for is a duplicate, not an unknown one. */
  wasUsed(id: RequestId): boolean;
  add(request: PendingRequest): void;
  get(id: RequestId): PendingRequest | undefined;
  /** Takes a request out, so that it can be ended; `undefined` where it has ended. */
  take(id: RequestId): PendingRequest | undefined;
  /** Requests in flight, oldest first. */
  all(): Iterable<PendingRequest>;
  readonly size: number;
  /** Sets its idle time back, because progress came. */
  extend(request: PendingRequest): void;
  /** Stops both clocks of a request until the returned function is called. */
  pause(request: PendingRequest): () => void;
  /** Ends `request` with `suspicion` unless an answer comes within two seconds. */
  suspect(request: PendingRequest, suspicion: PortcullisError): void;
  /** Remembers an ended request for `keepMs`, then calls `release`. */
  awaitLate(
    id: number,
    onLate: ((answer: LateAnswer) => void) | undefined,
    keepMs: number,
    release?: () => void,
  ): void;
  /** The late entry of `id`, taken out; `undefined` where none is (any more). */
  takeLate(id: RequestId): { readonly onLate: ((answer: LateAnswer) => void) | undefined } | undefined;
  /** Ends everything in flight and stops the timer. */
  close(error: PortcullisError): void;
}

const MAX_LATE = 1_000;
const SUSPICION_MS = 2_000;

export function createCorrelation(clock: Clock): Correlation {
  const pending = createIdTable<PendingRequest>();
  const find = (id: RequestId): PendingRequest | undefined =>
    typeof id === "number" ? pending.get(id) : undefined;
  const take = (id: RequestId): PendingRequest | undefined =>
    typeof id === "number" ? pending.take(id) : undefined;
  const late = new Map<RequestId, LateEntry>();
  let lastId = 0;
  let timer: Timer | undefined;
  let timerDueMs = Infinity;
  let isClosed = false;

  const arm = (dueMs: number): void => {
    if (isClosed || dueMs >= timerDueMs) return;
    timer?.cancel();
    timerDueMs = dueMs;
    timer = clock.timer(dueMs - clock.monotonic(), sweep);
  };

  const sweep = (): void => {
    timer = undefined;
    timerDueMs = Infinity;
    const nowMs = clock.monotonic();
    let nextMs = Infinity;
    const expired: PendingRequest[] = [];
    for (const request of pending.list()) {
      const dueMs = request.pause === undefined ? Math.min(request.idleDueMs, request.totalDueMs) : Infinity;
      if (dueMs <= nowMs) expired.push(request);
      else nextMs = Math.min(nextMs, dueMs);
    }
    for (const [id, entry] of late) {
      if (entry.dueMs <= nowMs) forgetLate(id, entry);
      else nextMs = Math.min(nextMs, entry.dueMs);
    }
    if (nextMs < Infinity) arm(nextMs);
    for (const request of expired) expire(request, nowMs);
  };

  const expire = (request: PendingRequest, nowMs: number): void => {
    // Ending one request may have ended others.
    if (find(request.id) === undefined) return;
    if (request.suspicion === undefined) {
      request.expire(request.totalDueMs <= nowMs ? "total" : "idle");
      return;
    }
    take(request.id);
    request.end({ kind: "broken", id: request.id, error: request.suspicion });
  };

  const forgetLate = (id: RequestId, entry: LateEntry): void => {
    late.delete(id);
    entry.release?.();
  };

  return {
    nextId() {
      lastId += 1;
      return lastId;
    },
    wasUsed: (id) => typeof id === "number" && Number.isInteger(id) && id >= 1 && id <= lastId,
    add(request) {
      pending.set(request.id, request);
      arm(Math.min(request.idleDueMs, request.totalDueMs));
    },
    get: find,
    take,
    all: () => pending.list(),
    get size() {
      return pending.size;
    },
    extend(request) {
      // The timer stays where it is: it finds the later due time when it fires.
      if (request.suspicion === undefined) request.idleDueMs = clock.monotonic() + request.idleTimeoutMs;
    },
    pause(request) {
      request.pause ??= { sinceMs: clock.monotonic(), questions: 0 };
      request.pause.questions += 1;
      return () => {
        const { pause } = request;
        if (pause === undefined) return;
        pause.questions -= 1;
        if (pause.questions > 0) return;
        request.pause = undefined;
        const nowMs = clock.monotonic();
        request.idleDueMs = nowMs + request.idleTimeoutMs;
        request.totalDueMs += nowMs - pause.sinceMs;
        if (find(request.id) === request) arm(Math.min(request.idleDueMs, request.totalDueMs));
      };
    },
    suspect(request, suspicion) {
      request.suspicion ??= suspicion;
      request.idleDueMs = Math.min(request.idleDueMs, clock.monotonic() + SUSPICION_MS);
      arm(request.idleDueMs);
    },
    awaitLate(id, onLate, keepMs, release) {
      if (isClosed) {
        release?.();
        return;
      }
      const dueMs = clock.monotonic() + keepMs;
      late.set(id, { onLate, dueMs, release });
      arm(dueMs);
      if (late.size <= MAX_LATE) return;
      for (const [oldest, entry] of late) {
        forgetLate(oldest, entry);
        break;
      }
    },
    takeLate(id) {
      const entry = late.get(id);
      if (entry !== undefined) forgetLate(id, entry);
      return entry;
    },
    close(error) {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
      for (const [id, entry] of late) forgetLate(id, entry);
      for (const request of pending.list()) {
        if (take(request.id) !== undefined) request.end({ kind: "broken", id: request.id, error });
      }
    },
  };
}
