/**
 * Runs one of the operator's own programs to its end (npm, the keychain's reader, a probe of the sandbox) and gives back what
 * it said. Never for a server: those are long-lived and speak MCP. No shell; the whole process group is gone when it resolves.
 */
import type { Readable } from "node:stream";
import { linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { ProcessExit } from "./process-error.ts";
import { terminate } from "./process-termination.ts";
import { startProcess, type ProcessCommand, type ServerProcess } from "./process.ts";
import { DEFAULT_GRACES } from "./stdio-options.ts";

export interface ProgramOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** What it reads from standard input; default nothing. */
  readonly stdin?: string;
  /** Of stdout and of stderr, each; what comes beyond it is dropped. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramResult extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** What an ended program still had in its pipes; a child of its own that holds them open is not waited for longer. */
const REST_OF_PIPES_MS = 1_000;

/**
 * Runs `command`.
 *
 * @throws PortcullisError `spawn_failed`, `timed_out`; the signal's reason. How it ended otherwise is for the caller to judge.
 */
export async function runProgram(command: ProcessCommand, options: ProgramOptions): Promise<ProgramResult> {
  const { clock, timeoutMs, maxOutputBytes = MAX_OUTPUT_BYTES } = options;
  const limit = linkAbort(options.signal);
  const timer = clock.timer(timeoutMs, () => {
    limit.abort(
      new PortcullisError("timed_out", `\`${command.command}\` did not end within ${timeoutMs} ms`),
    );
  });
  let started: ServerProcess | undefined;
  try {
    const starting = startProcess(command, (process) => {
      started = process;
    });
    const child = await untilAborted(starting, limit.signal);
    const stdout = collect(child.stdout, maxOutputBytes);
    const stderr = collect(child.stderr, maxOutputBytes);
    child.stdin.end(options.stdin ?? "");
    const exit = await untilAborted(child.exited, limit.signal);
    await waitForRest([stdout.ended, stderr.ended], clock);
    return { ...exit, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    timer.cancel();
    limit.unlink();
    if (started !== undefined) await terminate(started, "sigterm", DEFAULT_GRACES, clock);
  }
}

function collect(
  stream: Readable,
  maxBytes: number,
): { text: () => string; readonly ended: Promise<unknown> } {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  stream.on("data", (chunk: Buffer) => {
    if (room > 0) chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
  });
  const ended = new Promise((resolve) => stream.once("close", resolve).once("end", resolve));
  return { text: () => Buffer.concat(chunks).toString("utf8"), ended };
}

async function waitForRest(ended: readonly Promise<unknown>[], clock: Clock): Promise<void> {
  const isOver = new AbortController();
  const limit = clock.sleep(REST_OF_PIPES_MS, isOver.signal).catch(() => undefined);
  await Promise.race([Promise.all(ended), limit]);
  isOver.abort();
}
