/**
 * The same server over standard input and output, both eras on one pipe: one message per line, nothing else is ever written.
 * The end of the input is the end of the peer. Source: transports/stdio.
 */
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { createLifetime } from "../base/lifetime.ts";
import { createLineFramer } from "../base/line-framing.ts";
import { randomId, type Random } from "../base/random.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { DecodedText } from "../base/utf8.ts";
import { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcNotification, JsonRpcRequest, RequestId } from "../protocol/jsonrpc.ts";
import { methods, notifications } from "../protocol/methods.ts";
import { isRequestId, type ClassifiedMessage } from "../wire/jsonrpc.ts";
import { allowsBatch } from "../wire/legacy.ts";
import { rpcFailure } from "./http-answer.ts";
import { createInFlight } from "./in-flight.ts";
import { createLegacyPeer, toMessage } from "./mcp-legacy.ts";
import { failure } from "./mcp-answer.ts";
import { createMcpMethods } from "./mcp-methods.ts";
import { answerModern, isModernFramed, judgeModernHead } from "./mcp-modern.ts";
import { ALL_LISTS, createOffers } from "./offers.ts";
import { MAX_BATCH, readMessage } from "./read-message.ts";
import { createRounds } from "./rounds.ts";
import { openSubscription, type Subscription } from "./subscriptions.ts";

export interface StdioServerOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly random: Random;
  readonly input: Readable;
  readonly output: Writable;
  /** Faults of ours. */
  readonly onError?: (error: unknown) => void;
}

export interface StdioServer {
  /** Resolves when the input is over or the output broken, and nothing is answered any more. */
  readonly done: Promise<void>;
  /** Ends it now. */
  close(): Promise<void>;
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_REQUESTS = 256;
/** Bytes that wait to be read before no more requests are taken, and before the peer counts as gone. */
const FULL_BYTES = 4 * 1024 * 1024;
const LOST_BYTES = 64 * 1024 * 1024;
/** For answers that are nearly there when the input ends. */
const LAST_WORDS_MS = 1_000;

export function serveStdio(options: StdioServerOptions): StdioServer {
  const { input, output, clock } = options;
  const lifetime = createLifetime("gateway stdio");
  const cutting = new AbortController();
  const over = Promise.withResolvers<void>();
  const offers = lifetime.own(createOffers(options.host, clock));
  const mcp = createMcpMethods({
    host: options.host,
    offers,
    clock,
    onError: options.onError ?? (() => undefined),
  });
  const conversation = `stdio:${randomId(options.random)}`;
  const peer = lifetime.own(createLegacyPeer(mcp, conversation, (message) => write(message)));
  const modern = createInFlight();
  const rounds = lifetime.own(createRounds({ clock, random: options.random }));
  const subscriptions = new Map<RequestId, Subscription>();
  const running = new Set<Promise<void>>();
  const framer = createLineFramer({ maxLineBytes: MAX_LINE_BYTES });
  let isTelling = false;

  const write = (message: object): void => {
    if (output.destroyed || output.writableEnded) return;
    output.write(`${JSON.stringify(message)}\n`);
    if (output.writableLength > LOST_BYTES) over.resolve();
    else if (output.writableLength > FULL_BYTES) input.pause();
  };

  const writeNow = (message: object): boolean => {
    write(message);
    return !output.destroyed && !output.writableEnded;
  };

  const take = (line: DecodedText): void => {
    const message = readMessage(line);
    if (message.kind === "unreadable") write(rpcFailure(null, message.error));
    else if (message.kind === "request") start(answerAndWrite(message.message));
    else if (message.kind === "notification") notified(message.message);
    else if (message.kind === "batch") start(batch(message.items));
    else peer.answered(message);
  };

  const start = (work: Promise<void>): void => {
    const tracked = work
      .catch((error: unknown) => options.onError?.(error))
      .finally(() => {
        running.delete(tracked);
        if (running.size < MAX_REQUESTS && output.writableLength < FULL_BYTES) input.resume();
      });
    running.add(tracked);
    if (running.size >= MAX_REQUESTS) input.pause();
  };

  const answerAndWrite = async (request: JsonRpcRequest): Promise<void> => {
    const message = await answer(request);
    if (message !== null) write(message);
  };

  const answer = async (request: JsonRpcRequest): Promise<object | null> => {
    const { id, method, params = {} } = request;
    const isFirst = peer.revision === null && method !== methods.initialize && method !== methods.ping;
    if (!isModernFramed(params) && !isFirst) {
      const result = await peer.answer(request, cutting.signal, { notify: write, send: writeNow });
      if (method === methods.initialize) tellChanges();
      return result === null ? null : toMessage(id, result);
    }
    const error = judgeModernHead(request, null, []);
    if (error !== undefined) return rpcFailure(id, error);
    if (subscriptions.has(id))
      return toMessage(id, failure(rpcCodes.invalidRequest, "a request with this id is running"));
    if (method === methods.listen) {
      subscriptions.set(id, openSubscription(id, params, { offers, mcp, send: write }));
      return null;
    }
    const run = await modern.run(id, cutting.signal, async (signal) =>
      answerModern(mcp, rounds, method, params, { conversation, signal, notify: write }),
    );
    if (run.kind === "cancelled") return null;
    if (run.kind === "answered") return toMessage(id, run.answer);
    return toMessage(id, failure(rpcCodes.invalidRequest, "a request with this id is running"));
  };

  const notified = (notification: JsonRpcNotification): void => {
    peer.notified(notification);
    const { method, params } = notification;
    const id = isJsonObject(params) ? ownProperty(params, "requestId") : undefined;
    if (method !== notifications.cancelled || !isRequestId(id)) return;
    modern.cancel(id);
    subscriptions.get(id)?.stop();
    subscriptions.delete(id);
  };

  const batch = async (items: readonly ClassifiedMessage[]): Promise<void> => {
    if (!allowsBatch(peer.revision ?? "") || items.length > MAX_BATCH) {
      write(rpcFailure(null, { code: rpcCodes.invalidRequest, message: "no batch is allowed here" }));
      return;
    }
    const answers = await Promise.all(
      items.map(async (item): Promise<object | null> => {
        if (item.kind === "notification") notified(item.message);
        if (item.kind === "success" || item.kind === "failure") peer.answered(item);
        return item.kind === "request" ? answer(item.message) : null;
      }),
    );
    const whole = answers.filter((item) => item !== null);
    if (whole.length > 0) write(whole);
  };

  /** Legacy peers are told without asking, once they have begun. */
  const tellChanges = (): void => {
    if (isTelling || peer.revision === null || lifetime.isClosed) return;
    isTelling = true;
    lifetime.onClose(offers.onChanged(ALL_LISTS, (method) => write({ jsonrpc: "2.0", method })));
  };

  const onData = (chunk: Buffer): void => {
    for (const line of framer.push(chunk)) {
      if (line.kind === "line") take(line);
      else {
        write(
          rpcFailure(null, {
            code: rpcCodes.invalidRequest,
            message: `a line may have ${MAX_LINE_BYTES} bytes`,
          }),
        );
        over.resolve();
      }
    }
  };
  const onEnd = (): void => {
    for (const line of framer.end()) if (line.kind === "line") take(line);
    over.resolve();
  };
  const onDrain = (): void => {
    if (running.size < MAX_REQUESTS) input.resume();
  };
  const onBroken = (): void => over.resolve();
  input.on("data", onData);
  input.once("end", onEnd);
  input.once("error", onBroken);
  input.once("close", onBroken);
  output.on("drain", onDrain);
  output.on("error", onBroken);

  const finish = async (): Promise<void> => {
    await over.promise;
    input.off("data", onData);
    input.pause();
    const patience = clock.timer(LAST_WORDS_MS, () =>
      cutting.abort(new PortcullisError("cancelled", "the client is gone")),
    );
    await Promise.allSettled(running);
    patience.cancel();
    for (const subscription of subscriptions.values()) {
      subscription.stop();
      write(subscription.result());
    }
    subscriptions.clear();
    output.off("drain", onDrain);
    await lifetime.close();
  };
  const done = finish();

  return {
    done,
    async close() {
      over.resolve();
      cutting.abort(new PortcullisError("interrupted", "the gateway was closed"));
      await done;
    },
  };
}
