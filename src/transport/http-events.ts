/** An event stream read to its end: events become messages, everything else is passed over and noted. */
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { parseMessageText } from "./message-text.ts";
import type { SseEvent, SseParser } from "./sse.ts";
import type { Oddity } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface EventReceiver {
  message(message: JsonRpcMessage): void;
  odd(oddity: Oddity): void;
  /** An event of another type than `message`; default: noted as an oddity. */
  other?(event: SseEvent): void;
}

export interface StreamSummary {
  /** Messages that came in. Comments, priming events and noise are none. */
  readonly messages: number;
  /** Set where what came is no event stream at all, whatever its label: how it starts. */
  readonly sample?: string;
}

/** Reads `body` to its end. @throws what the body throws, and `message_too_large`. */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  parser: SseParser,
  receiver: EventReceiver,
): Promise<StreamSummary> {
  let messages = 0;
  let events = 0;
  let first: Uint8Array | undefined;
  for await (const chunk of body) {
    if (events === 0) first ??= chunk.slice(0, 400);
    for (const event of parser.push(chunk)) {
      events += 1;
      messages += take(event, receiver);
    }
  }
  const start = first === undefined ? "" : Buffer.from(first).toString("utf8");
  return events > 0 || EVENT_STREAM_START.test(start)
    ? { messages }
    : { messages, sample: visibleSample(start) };
}

/** Nothing, a comment, or a field, even half of one. */
const EVENT_STREAM_START = /^\ufeff?\s*(?:$|:|data|event|id|retry)/;

function take(event: SseEvent, receiver: EventReceiver): number {
  if (event.type !== "message") {
    if (receiver.other === undefined)
      receiver.odd({ kind: "http.event-type", sample: visibleSample(event.type) });
    else receiver.other(event);
    return 0;
  }
  // An event with an id and no data primes the stream for a resumption; it is no message.
  if (event.data === "") return 0;
  const parsed = parseMessageText(event.data, "http.noise-event");
  for (const oddity of parsed.oddities) receiver.odd(oddity);
  for (const message of parsed.messages) receiver.message(message);
  return parsed.messages.length;
}
