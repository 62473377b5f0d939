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
  /** @returns what it cost to take what nobody waited for, in the units of `PacedPipe`. */
  push(chunk: Buffer): number;
  /** A request goes out: one message that looks like an answer is waited for. */
  expectAnswer(): void;
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

/** Reading and parsing this many bytes costs about as much as a line by itself. */
const BYTES_PER_UNIT = 128;
/** A server that talks before it has answered anything is probably broken, and others start beside it. */
const GREETING_FACTOR = 4;

export interface StdioReaderOptions {
  /** Named in errors. */
  readonly command: string;
  readonly messageBytes: number;
  /** Cap on a line before the first answer. */
  readonly greetingBytes: number;
  readonly clock: Clock;
  readonly receiver: StdioReceiver;
}

export function createStdioReader(options: StdioReaderOptions): StdioReader {
  const { command, messageBytes, greetingBytes, clock, receiver } = options;
  const framer = createLineFramer({ maxLineBytes: messageBytes });
  let isStopped = false;
  let hasMessages = false;
  let hasAnswered = false;
  let expected = 0;
  const meter = createOddityMeter(clock, (oddity) => {
    if (!isStopped) receiver.odd(oddity);
  });

  const stopWith = (error: PortcullisError): void => {
    if (isStopped) return;
    isStopped = true;
    receiver.broken(error);
  };

  const overflow = (limitBytes: number, when: string): void =>
    stopWith(tooLarge(`\`${command}\` sent a line of more than ${limitBytes} bytes${when}`, limitBytes));

  const isAwaited = (message: JsonRpcMessage): boolean => {
    if (expected === 0 || "method" in message) return false;
    expected -= 1;
    hasAnswered = true;
    return true;
  };

  /** @returns the bytes of the line where they were waited for. */
  const takeLine = (line: Line): number => {
    if (line.kind === "overflow") {
      meter.note({ kind: "stdio.line-overflow", sample: visibleSample(line.sample) });
      overflow(messageBytes, "");
      return 0;
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
    let awaitedBytes = 0;
    for (const message of parsed.messages) {
      if (isStopped) break;
      hasMessages = true;
      if (isAwaited(message)) awaitedBytes = line.byteLength;
      receiver.message(message);
    }
    return awaitedBytes;
  };

  const takeLines = (lines: readonly Line[]): { readonly unasked: number; readonly awaitedBytes: number } => {
    let unasked = 0;
    let awaitedBytes = 0;
    for (const line of lines) {
      if (isStopped) break;
      try {
        const bytes = takeLine(line);
        awaitedBytes += bytes;
        if (bytes === 0) unasked += 1;
      } catch (error) {
        stopWith(toPortcullisError(error));
      }
    }
    return { unasked, awaitedBytes };
  };

  return {
    push(chunk) {
      if (isStopped) return chunk.length / BYTES_PER_UNIT;
      const heldBytes = framer.heldBytes + chunk.length;
      const { unasked, awaitedBytes } = takeLines(framer.push(chunk));
      if (!hasAnswered && framer.heldBytes > greetingBytes)
        overflow(greetingBytes, " before its first answer");
      const units = unasked + Math.max(0, heldBytes - framer.heldBytes - awaitedBytes) / BYTES_PER_UNIT;
      return hasAnswered ? units : units * GREETING_FACTOR;
    },
    expectAnswer() {
      expected += 1;
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
