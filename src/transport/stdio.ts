/**
 * The stdio transport: one server process, one JSON-RPC message per line, both eras (transports/stdio).
 *
 * Invariants:
 * - state is one value; `finish` alone leads from `open` to `over`, once;
 * - it reacts to the exit of the process, not to the end of its pipes: what the server had already written is still
 *   delivered, then everything settles, also where a grandchild holds the pipes;
 * - whatever ends it, the process group is ended too, and `close` resolves when that is done.
 */
import { abortReason, linkAbort, throwIfAborted, untilAborted, type LinkedAbort } from "../base/abort.ts";
import { assertNever } from "../base/assert-never.ts";
import type { Timer } from "../base/clock.ts";
import type { LineCounts } from "../base/line-framing.ts";
import { PortcullisError } from "../errors.ts";
import type { JsonRpcMessage } from "../protocol/jsonrpc.ts";
import { createPacedPipe } from "./paced-pipe.ts";
import { fromPipeError, fromProcessExit, type ProcessExit } from "./process-error.ts";
import { processStartOf } from "./process-start.ts";
import { terminate, type FirstStep } from "./process-termination.ts";
import { spawnFactsOf, startProcess, type ServerProcess } from "./process.ts";
import { createStderrLines } from "./stderr-lines.ts";
import { createStderrRing } from "./stderr-ring.ts";
import { DEFAULT_GRACES, DEFAULT_STDIO_LIMITS, type StdioTransportOptions } from "./stdio-options.ts";
import { createStdioReader, type StdioReader } from "./stdio-reader.ts";
import { createStdioWriter, toLine, type StdioWriter } from "./stdio-writer.ts";
import type { CloseReport, Oddity, SendOptions, Transport, TransportSink } from "./transport.ts";
import { visibleSample } from "./visible.ts";

export interface StdioTransport extends Transport {
  readonly kind: "stdio";
  /** `undefined` until the process was started. */
  readonly pid: number | undefined;
  /** `undefined` while the process runs. */
  readonly exit: ProcessExit | undefined;
  /** The last of stderr, at most 4,096 characters, control characters visible. */
  stderrTail(): string;
  /** What came in so far; `undefined` until it was open. */
  counts(): StdioCounts | undefined;
}

interface StdioCounts {
  readonly lines: LineCounts;
  /** By `Oddity.kind`, also those that were not reported one by one. */
  readonly oddities: Readonly<Record<string, number>>;
  readonly stderrBytes: number;
}

/** A pipe that breaks is mostly the first sign of an exit: so long it is waited for, to be able to tell the exit code. */
const EXIT_AFTER_PIPE_MS = 250;
/** What is only kept costs little. */
const STDERR_BYTES_PER_UNIT = 1_024;
/** Turns of the event loop without a byte after which the pipes of an ended process count as empty; and the most turns. */
const QUIET_TURNS = 2;
const MOST_TURNS = 64;

type State =
  | { readonly name: "new" }
  | {
      readonly name: "opening";
      readonly link: LinkedAbort;
      readonly ended: PromiseWithResolvers<CloseReport>;
    }
  | {
      readonly name: "open";
      readonly sink: TransportSink;
      readonly child: ServerProcess;
      readonly reader: StdioReader;
      readonly writer: StdioWriter;
    }
  | {
      readonly name: "over";
      readonly ended: Promise<CloseReport>;
      readonly error?: PortcullisError | undefined;
    };

export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { clock, command } = options;
  const limits = Object.freeze({ ...DEFAULT_STDIO_LIMITS, ...options.limits });
  const graces = Object.freeze({ ...DEFAULT_GRACES, ...options.terminate });
  const redact = options.redact ?? ((text: string) => text);
  const ring = createStderrRing(limits.stderrBytes, redact);
  let state: State = { name: "new" };
  let child: ServerProcess | undefined;
  let lastReader: StdioReader | undefined;
  let registered: Promise<void> = Promise.resolve();
  let strikeOff: (() => Promise<void>) | undefined;
  let stdoutBytes = 0;
  let pipeTimer: Timer | undefined;

  const stderrTail = (): string => ring.tail();

  /** Ends the process and all that it started; it stays written down while something remains. */
  const end = async (running: ServerProcess, firstStep: FirstStep): Promise<CloseReport> => {
    const report = await terminate(running, firstStep, graces, clock);
    await registered;
    // What could not be struck off is struck off by the reaper, which finds nobody there.
    if (report.how !== "remains") await strikeOff?.().catch(() => undefined);
    return report;
  };

  const finish = (error: PortcullisError | undefined, firstStep: FirstStep): void => {
    if (state.name !== "open") return;
    const { sink, child: running, reader, writer } = state;
    pipeTimer?.cancel();
    reader.stop();
    const refused = error === undefined ? writer.finish() : writer.fail(error);
    state = { name: "over", ended: end(running, firstStep), error };
    const tell = (): void => (error === undefined ? sink.closed() : sink.closed(error));
    // Who learns first that its message was not sent knows more than who learns that the connection is over.
    if (refused > 0) setImmediate(tell);
    else tell();
  };

  /** A pipe is broken while the process still seems to live: most likely its exit is on the way. */
  const expectExit = (error: unknown, pipe: "stdin" | "stdout"): void => {
    if (state.name !== "open" || pipeTimer !== undefined || state.child.exit !== undefined) return;
    pipeTimer = clock.timer(EXIT_AFTER_PIPE_MS, () => {
      if (state.name !== "open" || state.child.exit !== undefined) return;
      finish(fromPipeError(error, pipe, { command, stderrTail: stderrTail() }), "stdin");
    });
  };

  /** Reads what the pipes of an ended process still hold, then settles. */
  const takeExit = async (exit: ProcessExit): Promise<void> => {
    let seenBytes = -1;
    for (let turn = 0, quiet = 0; turn < MOST_TURNS && quiet < QUIET_TURNS; turn += 1) {
      if (state.name !== "open") return;
      const bytes = stdoutBytes + ring.totalBytes();
      quiet = bytes === seenBytes ? quiet + 1 : 0;
      seenBytes = bytes;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (state.name !== "open") return;
    const { reader } = state;
    reader.end();
    const hasSpoken = reader.hasMessages;
    finish(
      fromProcessExit(exit, { ...spawnFactsOf(options), stderrTail: stderrTail(), hasSpoken }),
      "sigterm",
    );
  };

  const attach = (running: ServerProcess, reader: StdioReader): void => {
    const { onStderrLine } = options;
    const passLine = (line: string): void => {
      try {
        onStderrLine?.(redact(line));
      } catch (error) {
        reader.note({ kind: "stdio.stderr-listener-failed", sample: sampleOf(error) });
      }
    };
    const toLines = onStderrLine === undefined ? undefined : createStderrLines(clock, passLine);
    const stdout = createPacedPipe(running.stdout, clock);
    const stderr = createPacedPipe(running.stderr, clock);
    running.stdout.on("data", (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      stdout.spend(reader.push(chunk));
    });
    running.stdout.on("end", () => {
      reader.end();
      expectExit(undefined, "stdout");
    });
    running.stdout.on("error", (error) => expectExit(error, "stdout"));
    running.stderr.on("data", (chunk: Buffer) => {
      ring.push(chunk);
      toLines?.(chunk);
      stderr.spend(chunk.length / STDERR_BYTES_PER_UNIT);
    });
    running.stdin.on("error", (error) => expectExit(error, "stdin"));
    void running.exited.then((exit) => {
      stdout.release();
      stderr.release();
      return takeExit(exit);
    });
  };

  const becomeOpen = (sink: TransportSink, running: ServerProcess): StdioReader => {
    const reader = createStdioReader({
      command,
      messageBytes: limits.messageBytes,
      greetingBytes: limits.greetingBytes,
      clock,
      receiver: {
        message: (message) => sink.message(message, {}),
        requestFailed: (id, error) => sink.requestFailed(id, error),
        odd: (oddity) => sink.odd(oddity),
        broken: (error) => finish(error, error.code === "message_too_large" ? "sigkill" : "stdin"),
      },
    });
    const writer = createStdioWriter({
      stream: running.stdin,
      clock,
      writeDeadlineMs: limits.writeDeadlineMs,
      queueBytes: limits.queueBytes,
      queueMessages: limits.queueMessages,
      messageBytes: limits.messageBytes,
      onStalled: () => finish(stalled(command, limits.writeDeadlineMs, stderrTail()), "sigterm"),
    });
    state = { name: "open", sink, child: running, reader, writer };
    lastReader = reader;
    attach(running, reader);
    return reader;
  };

  /** Never throws: a child that could not be written down runs all the same. */
  const register = async (running: ServerProcess, note: (oddity: Oddity) => void): Promise<void> => {
    if (options.registerChild === undefined) return;
    const processStart = processStartOf(running.pid);
    try {
      const entry = { pid: running.pid, command };
      strikeOff = await options.registerChild(
        processStart === undefined ? entry : { ...entry, processStart },
      );
    } catch (error) {
      note({ kind: "stdio.child-not-registered", sample: sampleOf(error) });
    }
  };

  const open = async (sink: TransportSink, signal: AbortSignal): Promise<void> => {
    if (state.name === "over") throw notOpen(command, "was closed before");
    if (state.name !== "new") throw new PortcullisError("internal", "a transport is opened once only");
    throwIfAborted(signal);
    const link = linkAbort(signal);
    const ended = Promise.withResolvers<CloseReport>();
    state = { name: "opening", link, ended };
    const early: Oddity[] = [];
    try {
      const starting = startProcess(options, (started) => {
        child = started;
      });
      const running = await untilAborted(starting, link.signal);
      registered = register(running, (oddity) => early.push(oddity));
      await untilAborted(registered, link.signal);
      if (link.signal.aborted) throw abortReason(link.signal);
      const reader = becomeOpen(sink, running);
      for (const oddity of early) reader.note(oddity);
    } catch (error) {
      state = { name: "over", ended: ended.promise };
      const started = child;
      ended.resolve(started === undefined ? { how: "clean" } : end(started, "sigkill"));
      throw error;
    } finally {
      link.unlink();
    }
  };

  const endedNow = (): Promise<CloseReport> => {
    switch (state.name) {
      case "opening":
        return state.ended.promise;
      case "over":
        return state.ended;
      case "new":
      case "open":
        throw new TypeError("close() left the transport open");
      default:
        return assertNever(state);
    }
  };

  return {
    kind: "stdio",
    get pid() {
      return child?.pid;
    },
    get exit() {
      return child?.exit;
    },
    stderrTail,
    counts: () =>
      lastReader === undefined ? undefined : { ...lastReader.counts(), stderrBytes: ring.totalBytes() },
    open,
    send(message: JsonRpcMessage, { signal }: SendOptions) {
      if (state.name !== "open") {
        const cause = state.name === "over" ? state.error : undefined;
        return Promise.reject(notOpen(command, "is not open", cause));
      }
      try {
        if ("method" in message && "id" in message) state.reader.expectAnswer();
        return state.writer.send(toLine(message), signal);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    settle: () => undefined,
    close() {
      if (state.name === "new") state = { name: "over", ended: Promise.resolve({ how: "clean" }) };
      else if (state.name === "opening")
        state.link.abort(notOpen(command, "was closed while it was opening"));
      else finish(undefined, "stdin");
      return endedNow();
    },
  };
}

function sampleOf(error: unknown): string {
  return visibleSample(error instanceof Error ? error.message : String(error));
}

function notOpen(command: string, what: string, cause?: PortcullisError): PortcullisError {
  return new PortcullisError("connection_lost", `the transport of \`${command}\` ${what}`, {
    cause,
    data: { wasSent: false },
  });
}

function stalled(command: string, deadlineMs: number, stderrTail: string): PortcullisError {
  const message = `\`${command}\` has read nothing from its stdin for ${deadlineMs} ms`;
  return new PortcullisError("timed_out", message, { data: { stderrTail } });
}
