/**
 * The contract suite of the transport port: plain functions that throw, without a test framework, so that a custom
 * transport can run them too. Every case gets a fresh transport whose peer obeys the methods below.
 *
 * The peer, for requests:
 * - `echo`: answers `{ "echo": params }`, and nothing else;
 * - `burst` with `{ "count": n }`: sends n notifications `tick` with `{ "at": 0 … n-1 }`, then answers `{ "echo": params }`;
 * - `silent`: never answers;
 * - `leave`: goes away at once without an answer (exit, socket destroyed);
 * - `flood`: sends a message far over the transport's cap, in answer to this request.
 * It ignores notifications and everything else that it does not know.
 */
import assert from "node:assert/strict";
import { PortcullisError } from "../errors.ts";
import { systemClock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from "../protocol/jsonrpc.ts";
import type { Oddity, Transport, TransportSink } from "./transport.ts";

/** What a case needs of an implementation. */
export interface TransportHarness {
  /**
   * A transport that was not opened yet, with a peer as told above. Its cap on one message lies between 1 and 4 MiB.
   */
  create(): Promise<Transport>;
  /** Run after every case, also a failed one: ends the peer and throws where something of it is left. */
  dispose(): Promise<void>;
}

export interface TransportCase {
  readonly name: string;
  run(harness: TransportHarness): Promise<void>;
}

/** How long an end may take; generous, for loaded machines. */
const LIMIT_MS = 10_000;

/** Codes with which a request may end without its response. */
const FAILURE_CODES = new Set([
  "connection_lost",
  "process_exited",
  "http_error",
  "auth_required",
  "session_lost",
  "message_too_large",
  "protocol_error",
  "timed_out",
]);

interface RecordedSink extends TransportSink {
  readonly messages: JsonRpcMessage[];
  readonly failures: { readonly id: RequestId; readonly error: PortcullisError }[];
  readonly oddities: Oddity[];
  /** One entry per call of `closed`. */
  readonly ends: (PortcullisError | undefined)[];
  /** Names of calls that came after `closed`. */
  readonly late: string[];
  /** Resolves as soon as `condition` holds. @throws where it does not hold within the limit. */
  until(what: string, condition: () => boolean): Promise<void>;
}

function recordSink(): RecordedSink {
  const waiting = new Set<() => void>();
  const late: string[] = [];
  const ends: (PortcullisError | undefined)[] = [];
  const changed = (call: string): void => {
    if (ends.length > 0) late.push(call);
    for (const check of waiting) check();
  };
  const sink: RecordedSink = {
    messages: [],
    failures: [],
    oddities: [],
    ends,
    late,
    message(message) {
      sink.messages.push(message);
      changed("message");
    },
    requestFailed(id, error) {
      sink.failures.push({ id, error });
      changed("requestFailed");
    },
    odd(oddity) {
      sink.oddities.push(oddity);
      changed("odd");
    },
    closed(error) {
      if (ends.length > 0) late.push("closed");
      ends.push(error);
      for (const check of waiting) check();
    },
    until(what, condition) {
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(check);
          limit.cancel();
        };
        const check = (): void => {
          if (!condition()) return;
          stop();
          resolve();
        };
        const onLimit = (): void => {
          stop();
          reject(new assert.AssertionError({ message: `it took too long: ${what}` }));
        };
        const limit = systemClock.timer(LIMIT_MS, onLimit);
        waiting.add(check);
        check();
      });
    },
  };
  return sink;
}

function request(id: RequestId, method: string, params: JsonObject = {}): JsonRpcRequest {
  return { jsonrpc: "2.0", id, method, params };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

/** The response to `id`; fails where there are several. */
function responseTo(sink: RecordedSink, id: RequestId): JsonRpcMessage | undefined {
  const found = sink.messages.filter((message) => !("method" in message) && message.id === id);
  assert.ok(found.length <= 1, `request ${id} was answered ${found.length} times`);
  return found[0];
}

/** In how many ways `id` ended; exactly one is right once it is over. */
function endsOf(sink: RecordedSink, id: RequestId): number {
  const failed = sink.failures.filter((failure) => failure.id === id).length;
  const answered = responseTo(sink, id) === undefined ? 0 : 1;
  return answered + failed;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("it was expected to reject");
}

async function openTransport(
  harness: TransportHarness,
): Promise<{ transport: Transport; sink: RecordedSink }> {
  const transport = await harness.create();
  const sink = recordSink();
  await transport.open(sink, never());
  transport.settle({ era: "modern", revision: "2026-07-28" });
  return { transport, sink };
}

/** Closes, and checks what holds of every close. */
async function closeAndCheck(transport: Transport, sink: RecordedSink): Promise<void> {
  const first = transport.close();
  assert.equal(transport.close(), first, "close() answers the same promise again");
  await first;
  assert.equal(sink.ends.length, 1, "closed is called once");
  assert.deepEqual(sink.late, [], "nothing is called after closed");
}

/** A send whose outcome is not what the case is about. */
function sendLoosely(transport: Transport, message: JsonRpcMessage): void {
  void transport.send(message, {}).catch(() => undefined);
}

/** The cases, in no particular order. */
export const transportCases: readonly TransportCase[] = [
  {
    name: "answers come back under their own ids, strings and numbers apart",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const ids: RequestId[] = [1, "1", 2 ** 53 - 1, "a b", 0, -1];
      await Promise.all(ids.map((id) => transport.send(request(id, "echo", { id }), {})));
      await sink.until("all are answered", () => sink.messages.length === ids.length);
      for (const id of ids) {
        assert.deepEqual(responseTo(sink, id), { jsonrpc: "2.0", id, result: { echo: { id } } });
      }
      await closeAndCheck(transport, sink);
      assert.deepEqual(sink.ends, [undefined], "an orderly close has no error");
    },
  },
  {
    name: "messages keep every member as it was sent [STDIO-13]",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const params = JSON.parse(
        '{"_meta":{"x/y":{"deep":[1,2.5,null,true]}},"__proto__":{"a":1},"constructor":1,"text":"line\\nbreak \\u2028 \\u0000 \\ud83d\\ude00 \\ud800","":""}',
      ) as JsonObject;
      await transport.send(request(1, "echo", params), {});
      await sink.until("it is answered", () => sink.messages.length === 1);
      assert.equal(
        JSON.stringify(responseTo(sink, 1)),
        JSON.stringify({ jsonrpc: "2.0", id: 1, result: { echo: params } }),
      );
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "a large message below the cap passes both ways",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const text = "é".repeat(250_000);
      await transport.send(request(1, "echo", { text }), {});
      await sink.until("it is answered", () => sink.messages.length === 1);
      assert.deepEqual(responseTo(sink, 1), { jsonrpc: "2.0", id: 1, result: { echo: { text } } });
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "messages are given in the order of their arrival",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const count = 500;
      await transport.send(request(1, "burst", { count }), {});
      await sink.until("all came", () => responseTo(sink, 1) !== undefined);
      const ticks = sink.messages
        .slice(0, count)
        .map((message) => ("method" in message ? message.params?.["at"] : "answer"));
      assert.deepEqual(ticks, [...Array(count).keys()]);
      assert.equal(sink.messages.length, count + 1);
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "many requests at once are each answered once",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const count = 200;
      for (let id = 0; id < count; id += 1) sendLoosely(transport, request(id, "echo", { id }));
      await sink.until("all are answered", () => sink.messages.length === count);
      for (let id = 0; id < count; id += 1) assert.equal(endsOf(sink, id), 1);
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "a peer that leaves ends what was in flight exactly once, with a coded error",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      sendLoosely(transport, request(1, "silent"));
      sendLoosely(transport, request(2, "leave"));
      await sink.until("the request ends", () => endsOf(sink, 2) === 1 || sink.ends.length === 1);
      assert.equal(responseTo(sink, 2), undefined);
      for (const error of [...sink.failures.map((failure) => failure.error), ...sink.ends]) {
        assert.ok(error instanceof PortcullisError, "the end has an error");
        assert.ok(FAILURE_CODES.has(error.code), `${error.code} is a code for the end of an exchange`);
      }
      await closeAndCheck(transport, sink);
      assert.ok(endsOf(sink, 2) <= 1);
    },
  },
  {
    name: "a message over the cap ends with `message_too_large`",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      sendLoosely(transport, request(1, "flood"));
      await sink.until("the request ends", () => endsOf(sink, 1) === 1 || sink.ends.length === 1);
      const error = sink.failures.find((failure) => failure.id === 1)?.error ?? sink.ends[0];
      assert.equal(error?.code, "message_too_large");
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "close ends a transport with requests in flight, once, without an error",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      sendLoosely(transport, request(1, "silent"));
      await transport.send(request(2, "echo"), {});
      await sink.until("the other one is answered", () => endsOf(sink, 2) === 1);
      await closeAndCheck(transport, sink);
      assert.deepEqual(sink.ends, [undefined]);
      assert.equal(responseTo(sink, 1), undefined);
    },
  },
  {
    name: "a send after close is rejected as not sent",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      await closeAndCheck(transport, sink);
      const error = await rejection(transport.send(request(1, "echo"), {}));
      assert.ok(error instanceof PortcullisError);
      assert.equal(error.code, "connection_lost");
      assert.equal(error.data["wasSent"], false);
      assert.deepEqual(sink.late, []);
    },
  },
  {
    name: "a send whose signal is aborted is not sent, and rejects with the signal's reason",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      const reason = new Error("no longer wanted");
      const error = await rejection(
        transport.send(request(1, "echo"), { signal: AbortSignal.abort(reason) }),
      );
      assert.equal(error, reason);
      await transport.send(request(2, "echo"), {});
      await sink.until("the next one is answered", () => endsOf(sink, 2) === 1);
      assert.equal(endsOf(sink, 1), 0);
      await closeAndCheck(transport, sink);
    },
  },
  {
    name: "open with an aborted signal rejects with its reason and tells the sink nothing",
    async run(harness) {
      const transport = await harness.create();
      const sink = recordSink();
      const reason = new Error("not needed after all");
      assert.equal(await rejection(transport.open(sink, AbortSignal.abort(reason))), reason);
      await transport.close();
      assert.deepEqual([sink.messages.length, sink.ends.length, sink.failures.length], [0, 0, 0]);
    },
  },
  {
    name: "close before open, and while opening, resolves and leaves nothing",
    async run(harness) {
      const unopened = await harness.create();
      await unopened.close();
      await rejection(unopened.open(recordSink(), never()));
      const transport = await harness.create();
      const sink = recordSink();
      const opening = transport.open(sink, never()).catch(() => undefined);
      await transport.close();
      await opening;
      assert.ok(sink.ends.length <= 1);
      assert.deepEqual(sink.late, []);
      const error = await rejection(transport.send(request(1, "echo"), {}));
      assert.ok(error instanceof PortcullisError && error.data["wasSent"] === false);
    },
  },
  {
    name: "close after the peer has left resolves, and closed is not called again",
    async run(harness) {
      const { transport, sink } = await openTransport(harness);
      sendLoosely(transport, request(1, "leave"));
      await sink.until("the request ends", () => endsOf(sink, 1) === 1 || sink.ends.length === 1);
      await closeAndCheck(transport, sink);
    },
  },
];
