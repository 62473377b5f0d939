/**
 * The way in from a server's stdout: bytes to lines to messages. What is no message is passed over and counted; a line
 * over the cap, or a receiver that throws, ends the reader.
 */
import type { Clock } from "../base/clock.ts";
import { createLineFramer, type Line, type LineCounts } from "../base/line-framing.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { JsonRpcMessage, RequestId } from "../protocol/jsonrpc.ts";
import { parseMessageText } from "./message-text.ts";
import { createOddityMeter } from "./oddity-meter.ts";
import type { Oddity } from "./transport.ts";
import { visibleSample } from "./visible.ts";

/** Who gets what was read. Any of these may call `stop`. */
interface StdioReceiver {
  message(message: JsonRpcMessage): void;
  requestFailed(id: RequestId, error: PortcullisError): void;
  odd(oddity: Oddity): void;
  /** A line over the cap (`message_too_large`), or an error that the receiver itself threw. Called once; nothing follows. */
  broken(error: PortcullisError): void;
}

export interface StdioReader {
  push(chunk: Buffer): void;
  /** No more bytes: delivers a last line that had no newline. */
  end(): void;
  /** Nothing is delivered from now on, also not the rest of the chunk that is being worked on. */
  stop(): void;
  /** Counts an oddity of the transport itself. */
  note(oddity: Oddity): void;
  /** Whether a message has come yet. */
  readonly hasMessages: boolean;
  counts(): { readonly lines: LineCounts; readonly oddities: Readonly<Record<string, number>> };
}

export interface StdioReaderOptions {
  /** Named in errors. */
  readonly command: string;
  readonly messageBytes: number;
  readonly clock: Clock;
  readonly receiver: StdioReceiver;
}

export function createStdioReader(options: StdioReaderOptions): StdioReader {
  const { command, messageBytes, clock, receiver } = options;
  const framer = createLineFramer({ maxLineBytes: messageBytes });
  let isStopped = false;
  let hasMessages = false;
  const meter = createOddityMeter(clock, (oddity) => {
    if (!isStopped) receiver.odd(oddity);
  });

  const stopWith = (error: PortcullisError): void => {
    if (isStopped) return;
    isStopped = true;
    receiver.broken(error);
  };

  const takeLine = (line: Line): void => {
    if (line.kind === "overflow") {
      meter.note({ kind: "stdio.line-overflow", sample: visibleSample(line.sample) });
      stopWith(tooLarge(`\`${command}\` sent a line of more than ${messageBytes} bytes`, messageBytes));
      return;
    }
    if (line.hasInvalidUtf8) meter.note({ kind: "stdio.invalid-utf8", sample: visibleSample(line.text) });
    const parsed = parseMessageText(line.text, "stdio.noise-line");
    for (const oddity of parsed.oddities) meter.note(oddity);
    if (parsed.excess?.answers !== undefined && !isStopped) {
      const what =
        parsed.excess.bound === "depth" ? "is nested too deeply" : "holds too many objects and arrays";
      receiver.requestFailed(
        parsed.excess.answers,
        tooLarge(`the answer of \`${command}\` ${what}`, messageBytes),
      );
    }
    for (const message of parsed.messages) {
      if (isStopped) return;
      hasMessages = true;
      receiver.message(message);
    }
  };

  const takeLines = (lines: readonly Line[]): void => {
    for (const line of lines) {
      if (isStopped) return;
      try {
        takeLine(line);
      } catch (error) {
        stopWith(toPortcullisError(error));
      }
    }
  };

  return {
    push(chunk) {
      if (!isStopped) takeLines(framer.push(chunk));
    },
    end() {
      if (!isStopped) takeLines(framer.end());
    },
    stop() {
      isStopped = true;
    },
    note: (oddity) => meter.note(oddity),
    get hasMessages() {
      return hasMessages;
    },
    counts: () => ({ lines: framer.counts(), oddities: meter.counts() }),
  };
}

function tooLarge(message: string, limitBytes: number): PortcullisError {
  return new PortcullisError("message_too_large", message, { data: { limitBytes } });
}
