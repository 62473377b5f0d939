/** An open stdio transport with everything it told, for tests: requests as promises, waiting by event. */
import { systemClock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { PortcullisError } from "../../src/errors.ts";
import type { JsonRpcMessage, RequestId } from "../../src/protocol/jsonrpc.ts";
import type { ProcessCommand } from "../../src/transport/process.ts";
import type { StdioTransportOptions } from "../../src/transport/stdio-options.ts";
import { createStdioTransport, type StdioTransport } from "../../src/transport/stdio.ts";
import type { Oddity } from "../../src/transport/transport.ts";

export interface StdioSession {
  readonly transport: StdioTransport;
  readonly messages: JsonRpcMessage[];
  readonly oddities: Oddity[];
  /** Resolves when the transport is over, with its error. */
  readonly closed: Promise<PortcullisError | undefined>;
  readonly timesClosed: () => number;
  /** Resolves with the response. @throws the error with which the request or the transport ended instead. */
  request(method: string, params?: JsonObject): Promise<JsonRpcMessage>;
  /** Resolves with the first message for which `test` holds. */
  waitFor(test: (message: JsonRpcMessage) => boolean): Promise<JsonRpcMessage>;
}

/** Quick graces, so that a stubborn server does not hold a test up. */
export const QUICK = { stdinGraceMs: 300, sigtermGraceMs: 300, sigkillGraceMs: 5_000 };

/** @param signal of `open`. */
type Options = Partial<Omit<StdioTransportOptions, keyof ProcessCommand>> & { readonly signal?: AbortSignal };

export async function openStdioSession(
  command: ProcessCommand,
  options: Options = {},
): Promise<StdioSession> {
  const transport = createStdioTransport({ ...command, clock: systemClock, terminate: QUICK, ...options });
  const messages: JsonRpcMessage[] = [];
  const oddities: Oddity[] = [];
  const pending = new Map<RequestId, PromiseWithResolvers<JsonRpcMessage>>();
  const waiting = new Map<(message: JsonRpcMessage) => boolean, (message: JsonRpcMessage) => void>();
  const closed = Promise.withResolvers<PortcullisError | undefined>();
  let timesClosed = 0;
  let lastId = 0;
  await transport.open(
    {
      message(message) {
        messages.push(message);
        if (!("method" in message)) pending.get(message.id ?? "")?.resolve(message);
        for (const [test, resolve] of waiting) {
          if (!test(message)) continue;
          waiting.delete(test);
          resolve(message);
        }
      },
      requestFailed: (id, error) => pending.get(id)?.reject(error),
      odd: (oddity) => void oddities.push(oddity),
      closed(error) {
        timesClosed += 1;
        for (const one of pending.values())
          one.reject(error ?? new PortcullisError("cancelled", "the transport was closed"));
        closed.resolve(error);
      },
    },
    options.signal ?? new AbortController().signal,
  );
  return {
    transport,
    messages,
    oddities,
    closed: closed.promise,
    timesClosed: () => timesClosed,
    request(method, params = {}) {
      lastId += 1;
      const answer = Promise.withResolvers<JsonRpcMessage>();
      pending.set(lastId, answer);
      transport.send({ jsonrpc: "2.0", id: lastId, method, params }, {}).catch(answer.reject);
      // A test may look at it only after the end of the transport.
      answer.promise.catch(() => undefined);
      return answer.promise;
    },
    waitFor(test) {
      const found = messages.find(test);
      return found === undefined
        ? new Promise((resolve) => waiting.set(test, resolve))
        : Promise.resolve(found);
    },
  };
}

/** What `promise` rejects with, which must be ours. */
export async function errorOf(promise: Promise<unknown>): Promise<PortcullisError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof PortcullisError) return error;
    throw error;
  }
  throw new Error("it was expected to reject");
}
