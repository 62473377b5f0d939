/**
 * The way out to a server's stdin: whole lines, in order, one write at a time, what is handed over in one tick in few writes.
 *
 * Invariants:
 * - what waits is bounded in bytes and in number; beyond it a line is refused, never buffered;
 * - a line that is rejected was surely not sent, not in part either; where that is not sure it resolves, and the end of
 *   the transport settles what hangs on it;
 * - a write that makes no progress for `writeDeadlineMs` is reported once through `onStalled`.
 */
import type { Writable } from "node:stream";
import { abortReason } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { toMessageText } from "./message-text.ts";

export interface StdioWriterOptions {
  readonly stream: Writable;
  readonly clock: Clock;
  readonly writeDeadlineMs: number;
  readonly queueBytes: number;
  readonly queueMessages: number;
  /** Cap on one line. */
  readonly messageBytes: number;
  onStalled(): void;
}

export interface StdioWriter {
  /** @throws PortcullisError `queue_full`, `message_too_large` or `connection_lost`, or the signal's reason while the line still waits. */
  send(line: string, signal: AbortSignal | undefined): Promise<void>;
  /** Hands over what still can be. Returns how many lines were refused. The stream is left for its owner to end. */
  finish(): number;
  /** Refuses everything that waits. Returns how many lines that were. */
  fail(cause: PortcullisError): number;
  readonly queuedBytes: number;
}

interface Entry {
  readonly line: string;
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  resolve(): void;
  reject(error: Error): void;
  onAbort: (() => void) | undefined;
}

type State = "idle" | "scheduled" | "writing" | "over";

/** One write; what is larger goes out in pieces of this size, so that progress can be seen. */
const PIECE_BYTES = 262_144;
/** Lines that leave without waiting for the end of the tick: the server works on them while the next ones are made. */
const LINES_AT_ONCE = 8;

export function createStdioWriter(options: StdioWriterOptions): StdioWriter {
  const { stream, clock, writeDeadlineMs, queueBytes, queueMessages, messageBytes } = options;
  let state: State = "idle";
  let waiting: Entry[] = [];
  let writing: readonly Entry[] = [];
  let pieces: (string | Buffer)[] = [];
  let queuedBytes = 0;
  let deadline: Timer | undefined;

  const settle = (entry: Entry, error?: Error): void => {
    if (entry.onAbort !== undefined) entry.signal?.removeEventListener("abort", entry.onAbort);
    queuedBytes -= entry.bytes;
    if (error === undefined) entry.resolve();
    else entry.reject(error);
  };

  /** Only lines that really have to wait listen to their signal: the others are gone in the same tick. */
  const watch = (entry: Entry): void => {
    const { signal } = entry;
    if (signal === undefined || entry.onAbort !== undefined) return;
    entry.onAbort = () => {
      waiting = waiting.filter((other) => other !== entry);
      settle(entry, abortReason(signal));
    };
    signal.addEventListener("abort", entry.onAbort, { once: true });
  };

  /** Takes the next lines off the queue, up to one piece, and leaves out those that are no longer wanted. */
  const takeBatch = (): Entry[] => {
    const batch: Entry[] = [];
    let bytes = 0;
    let taken = 0;
    for (const entry of waiting) {
      if (batch.length > 0 && bytes + entry.bytes > PIECE_BYTES) break;
      taken += 1;
      if (entry.signal?.aborted === true) {
        settle(entry, abortReason(entry.signal));
        continue;
      }
      bytes += entry.bytes;
      batch.push(entry);
    }
    waiting = taken === waiting.length ? [] : waiting.slice(taken);
    for (const entry of batch) {
      if (entry.onAbort !== undefined) entry.signal?.removeEventListener("abort", entry.onAbort);
      entry.onAbort = undefined;
    }
    return batch;
  };

  const pump = (): void => {
    while (state === "scheduled") {
      if (waiting.length === 0) {
        state = "idle";
        return;
      }
      writing = takeBatch();
      pieces = toPieces(writing);
      writePieces();
    }
  };

  /** Writes until the operating system takes no more at once; the rest goes on in the callback of the write. */
  const writePieces = (): void => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      state = "writing";
      let isTaken = false;
      stream.write(piece, (error) => {
        if (isTaken || state === "over") return;
        deadline?.cancel();
        deadline = undefined;
        // A broken pipe is reported by the stream's `error` event, to the owner of the stream.
        if (error !== null && error !== undefined) return;
        writePieces();
        pump();
      });
      // Nothing left in the stream: the operating system has it, and there is no need to wait for the callback.
      isTaken = stream.writableLength === 0 && stream.errored === null && !stream.destroyed;
      if (!isTaken) {
        if (!stream.destroyed && stream.errored === null) {
          deadline = clock.timer(writeDeadlineMs, options.onStalled);
          for (const entry of waiting) watch(entry);
        }
        return;
      }
    }
    for (const entry of writing) settle(entry);
    writing = [];
    state = "scheduled";
  };

  const end = (cause: PortcullisError): number => {
    state = "over";
    deadline?.cancel();
    deadline = undefined;
    pieces = [];
    // Part of these may have reached the server: only the end of the transport can say what became of them.
    for (const entry of writing) settle(entry);
    writing = [];
    const refused = waiting;
    waiting = [];
    for (const entry of refused) settle(entry, notSent(cause));
    return refused.length;
  };

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    send(line, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(abortReason(signal));
          return;
        }
        if (state === "over" || stream.destroyed || stream.errored !== null) {
          reject(notSent(undefined));
          return;
        }
        const bytes = Buffer.byteLength(line);
        if (bytes > messageBytes) {
          reject(tooLarge(bytes, messageBytes));
          return;
        }
        const isFull = queuedBytes + bytes > queueBytes || waiting.length >= queueMessages;
        if (isFull && queuedBytes > 0) {
          reject(queueFull(queuedBytes, waiting.length));
          return;
        }
        const entry: Entry = { line, bytes, signal, resolve, reject, onAbort: undefined };
        queuedBytes += bytes;
        waiting.push(entry);
        if (state === "writing") watch(entry);
        if (state === "idle") {
          state = "scheduled";
          process.nextTick(pump);
        } else if (state === "scheduled" && waiting.length >= LINES_AT_ONCE) {
          pump();
        }
      });
    },
    finish() {
      if (state === "over") return 0;
      if (state === "idle") state = "scheduled";
      pump();
      return end(new PortcullisError("connection_lost", "the transport was closed"));
    },
    fail: (cause) => (state === "over" ? 0 : end(cause)),
  };
}

/** Line ends for some readers (Node's `readline`, Python's `splitlines`), though not for JSON. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * One message as one line, whatever the reader takes for the end of a line (STDIO-01).
 *
 * @throws PortcullisError `invalid_arguments` where it cannot be written as JSON.
 */
export function toLine(message: JsonRpcMessage): string {
  const text = toMessageText(message);
  // They are not ASCII, and most messages are nothing else: their length tells.
  if (Buffer.byteLength(text) === text.length) return `${text}\n`;
  return `${text.replace(OTHER_LINE_ENDS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}

function toPieces(entries: readonly Entry[]): (string | Buffer)[] {
  const text = entries.length === 1 ? (entries[0]?.line ?? "") : entries.map((entry) => entry.line).join("");
  if (text.length <= PIECE_BYTES / 4) return text === "" ? [] : [text];
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  return pieces;
}

function notSent(cause: PortcullisError | undefined): PortcullisError {
  return new PortcullisError(
    "connection_lost",
    "the message was not sent: the connection to the server is over",
    {
      cause,
      data: { wasSent: false },
    },
  );
}

function queueFull(bytes: number, messages: number): PortcullisError {
  return new PortcullisError(
    "queue_full",
    `the server does not read: ${messages} messages (${bytes} bytes) already wait for it`,
    {
      data: { wasSent: false, queuedBytes: bytes, queuedMessages: messages },
    },
  );
}

function tooLarge(bytes: number, limitBytes: number): PortcullisError {
  return new PortcullisError(
    "message_too_large",
    `a message of ${bytes} bytes is over the limit of ${limitBytes}`,
    {
      data: { wasSent: false, limitBytes },
    },
  );
}
