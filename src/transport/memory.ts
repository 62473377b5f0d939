/**
 * Two transports that are each other's peer, in one process: for servers that run inside the host, and for tests. Messages
 * go through their JSON text, so that both sides see exactly what a wire would carry and share no object.
 *
 * Delivery is asynchronous, in order, a batch per turn of the event loop. What is sent to an end that is not open yet waits
 * for it, within the queue's bounds.
 */
import { abortReason, throwIfAborted } from "../base/abort.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { parseMessageText, toMessageText } from "./message-text.ts";
import type { CloseReport, SendOptions, Transport, TransportSink } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface MemoryTransportOptions {
  /** Cap on one message in bytes of its JSON text, at the receiving end. Default 16 MiB. */
  readonly messageBytes?: number;
  /** What may wait for an end, in bytes. Default 32 MiB; a single message may always wait. */
  readonly queueBytes?: number;
}

type State =
  | { readonly name: "new" }
  | { readonly name: "open"; readonly sink: TransportSink }
  | { readonly name: "over" };

/** One end as its peer sees it. */
interface End {
  readonly transport: Transport;
  /** @throws PortcullisError `queue_full`, or `connection_lost` where this end is over. */
  accept(text: string): void;
  /** The peer is gone: delivers what waits, then closes. */
  peerIsGone(): void;
}

/** @returns two unopened transports; each end receives what is sent at the other. */
export function createMemoryTransportPair(
  options: MemoryTransportOptions = {},
): readonly [Transport, Transport] {
  const messageBytes = options.messageBytes ?? 16 * 1024 * 1024;
  const queueBytes = options.queueBytes ?? 32 * 1024 * 1024;
  const limits = { messageBytes, queueBytes };
  const one: End = createEnd(limits, () => other);
  const other: End = createEnd(limits, () => one);
  return [one.transport, other.transport];
}

function createEnd(limits: Required<MemoryTransportOptions>, peer: () => End): End {
  let state: State = { name: "new" };
  let inbox: string[] = [];
  let inboxBytes = 0;
  let isPeerGone = false;
  let isScheduled = false;
  const ended: Promise<CloseReport> = Promise.resolve({ how: "clean" });

  const finish = (error?: PortcullisError): void => {
    if (state.name === "over") return;
    const before = state;
    state = { name: "over" };
    inbox = [];
    inboxBytes = 0;
    peer().peerIsGone();
    if (before.name !== "open") return;
    if (error === undefined) before.sink.closed();
    else before.sink.closed(error);
  };

  const deliver = (text: string, sink: TransportSink): void => {
    if (Buffer.byteLength(text) > limits.messageBytes) {
      sink.odd({ kind: "memory.message-too-large", sample: visibleSample(text) });
      finish(
        new PortcullisError("message_too_large", `a message of more than ${limits.messageBytes} bytes came`),
      );
      return;
    }
    const parsed = parseMessageText(text, "memory.no-message");
    for (const oddity of parsed.oddities) sink.odd(oddity);
    if (parsed.excess?.answers !== undefined) {
      sink.requestFailed(
        parsed.excess.answers,
        new PortcullisError("message_too_large", "the answer is nested too deeply or too large"),
      );
    }
    for (const message of parsed.messages) if (state.name === "open") sink.message(message, {});
  };

  const drain = (): void => {
    isScheduled = false;
    const batch = inbox;
    inbox = [];
    inboxBytes = 0;
    for (const text of batch) {
      if (state.name !== "open") return;
      try {
        deliver(text, state.sink);
      } catch (error) {
        finish(toPortcullisError(error));
      }
    }
    if (isPeerGone && inbox.length === 0)
      finish(new PortcullisError("connection_lost", "the other end was closed"));
    else schedule();
  };

  const schedule = (): void => {
    if (isScheduled || state.name !== "open" || (inbox.length === 0 && !isPeerGone)) return;
    isScheduled = true;
    // Not a promise job: two ends that answer each other would never let the event loop turn.
    setImmediate(drain);
  };

  const transport: Transport = {
    kind: "memory",
    async open(sink, signal) {
      if (state.name === "over") throw notSent("the transport was closed before it was opened");
      if (state.name === "open") throw new PortcullisError("internal", "a transport is opened once only");
      throwIfAborted(signal);
      state = { name: "open", sink };
      schedule();
    },
    async send(message: JsonRpcMessage, { signal }: SendOptions) {
      if (signal?.aborted === true) throw abortReason(signal);
      if (state.name !== "open") throw notSent("the transport is not open");
      peer().accept(toMessageText(message));
    },
    settle: () => undefined,
    close() {
      finish();
      return ended;
    },
  };

  return {
    transport,
    accept(text) {
      if (state.name === "over") throw notSent("the other end is closed");
      if (inboxBytes > 0 && inboxBytes + text.length > limits.queueBytes) {
        const data = { wasSent: false, queuedBytes: inboxBytes };
        throw new PortcullisError(
          "queue_full",
          `the other end does not read: ${inbox.length} messages already wait for it`,
          { data },
        );
      }
      inbox.push(text);
      inboxBytes += text.length;
      schedule();
    },
    peerIsGone() {
      if (state.name === "over") return;
      isPeerGone = true;
      schedule();
    },
  };
}

function notSent(message: string): PortcullisError {
  return new PortcullisError("connection_lost", message, { data: { wasSent: false } });
}
