/**
 * A transport in memory whose far side is a function: for tests of the client with a manual clock. It keeps the clauses of
 * the port: messages in order, one `closed`, an abort takes a message out that was not taken yet.
 */
import { PortcullisError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "../../src/protocol/jsonrpc.ts";
import type {
  MessageOrigin,
  SendOptions,
  SettledProtocol,
  Transport,
  TransportKind,
  TransportSink,
} from "../../src/transport/transport.ts";

export interface SentMessage {
  readonly message: JsonRpcRequest | JsonRpcNotification | JsonObject;
  readonly options: SendOptions;
}

export interface ScriptedTransport extends Transport {
  readonly sent: readonly SentMessage[];
  readonly settled: readonly SettledProtocol[];
  /** Requests and notifications of one method, in order. */
  sentOf(method: string): readonly SentMessage[];
  /** Lets any value arrive. */
  arrive(value: unknown, origin?: MessageOrigin): void;
  /** Answers a request that was sent. */
  answer(id: number | string, result: JsonObject, origin?: MessageOrigin): void;
  answerError(
    id: number | string | null,
    code: number,
    message?: string,
    data?: unknown,
    origin?: MessageOrigin,
  ): void;
  fail(id: number | string, error: PortcullisError): void;
  /** The peer goes. */
  drop(error?: PortcullisError): void;
  /** While true, `send` does not resolve: the queue is full. */
  isStuck: boolean;
  readonly closes: number;
}

/** What the far side does with a request; nothing is answered for `undefined`. */
export type Respond = (request: JsonRpcRequest, transport: ScriptedTransport) => void;

export function createScriptedTransport(
  respond: Respond = () => undefined,
  kind: TransportKind = "memory",
): ScriptedTransport {
  const sent: SentMessage[] = [];
  const settled: SettledProtocol[] = [];
  const stuck: { resolve(): void; reject(reason: Error): void }[] = [];
  let sink: TransportSink | undefined;
  let isOver = false;
  let isStuck = false;
  let closes = 0;

  const end = (error?: PortcullisError): void => {
    if (isOver) return;
    isOver = true;
    for (const waiting of stuck.splice(0)) {
      waiting.reject(new PortcullisError("connection_lost", "not sent", { data: { wasSent: false } }));
    }
    sink?.closed(error);
  };

  const transport: ScriptedTransport = {
    kind,
    sent,
    settled,
    sentOf: (method) => sent.filter(({ message }) => (message as JsonObject)["method"] === method),
    get closes() {
      return closes;
    },
    get isStuck() {
      return isStuck;
    },
    set isStuck(value) {
      isStuck = value;
      if (!value) for (const waiting of stuck.splice(0)) waiting.resolve();
    },
    async open(given) {
      sink = given;
    },
    async send(message, options) {
      if (isOver)
        throw new PortcullisError("connection_lost", "the transport is over", { data: { wasSent: false } });
      if (isStuck) {
        await new Promise<void>((resolve, reject) => {
          const waiting = { resolve, reject };
          stuck.push(waiting);
          options.signal?.addEventListener("abort", () => {
            const at = stuck.indexOf(waiting);
            if (at < 0) return;
            stuck.splice(at, 1);
            reject(options.signal?.reason as Error);
          });
        });
      }
      sent.push({ message: message as JsonRpcRequest, options });
      if ("method" in message && "id" in message) queueMicrotask(() => respond(message, transport));
    },
    settle(protocol) {
      settled.push(protocol);
    },
    async close() {
      closes += 1;
      end();
      return { how: "clean" };
    },
    arrive(value, origin = {}) {
      if (!isOver) sink?.message(value as JsonRpcRequest, origin);
    },
    answer(id, result, origin = {}) {
      transport.arrive({ jsonrpc: "2.0", id, result }, origin);
    },
    answerError(id, code, message = "no", data, origin = {}) {
      transport.arrive(
        { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } },
        origin,
      );
    },
    fail(id, error) {
      sink?.requestFailed(id, error);
    },
    drop(error) {
      end(error);
    },
  };
  return transport;
}
