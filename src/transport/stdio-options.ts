/** What a stdio transport is made of, and its defaults. */
import type { Clock } from "../base/clock.ts";
import type { TerminationGraces } from "./process-termination.ts";
import type { ProcessCommand } from "./process.ts";

export interface StdioLimits {
  /** One line, in either direction. Default 16 MiB. */
  readonly messageBytes: number;
  /** One line before the first answer. Default: `messageBytes`. */
  readonly greetingBytes: number;
  /** Kept of stderr. Default 64 KiB. */
  readonly stderrBytes: number;
  /** How long the server may read nothing while we write. Default 30,000. */
  readonly writeDeadlineMs: number;
  /** What may wait to be written. Default 32 MiB; a single message may always wait. */
  readonly queueBytes: number;
  /** How many messages may wait to be written. Default 16,384. */
  readonly queueMessages: number;
}

/** What is written down of a running child, so that another process can end it when this one was killed. */
interface RunningChild {
  /** Also the number of its process group. */
  readonly pid: number;
  /** `processStartOf(pid)`; absent where the platform does not tell. */
  readonly processStart?: string;
  readonly command: string;
}

/** Writes a child down; resolves with the function that strikes it off again. */
export type RegisterChild = (child: RunningChild) => Promise<() => Promise<void>>;

export interface StdioTransportOptions extends ProcessCommand {
  readonly clock: Clock;
  readonly limits?: Partial<StdioLimits>;
  /** Defaults: 2,000, 3,000 and 5,000 milliseconds. */
  readonly terminate?: Partial<TerminationGraces>;
  /** Awaited before `open` resolves. A failure is the oddity `stdio.child-not-registered` and stops nothing. */
  readonly registerChild?: RegisterChild;
  /** Gets what the server writes to stderr by the line: at most 4,096 characters, control characters visible, floods cut. */
  readonly onStderrLine?: (line: string) => void;
  /** Applied to text of stderr before it leaves here in an error, a tail or a line: for secrets the server was given. */
  readonly redact?: (text: string) => string;
}

export const DEFAULT_STDIO_LIMITS: StdioLimits = Object.freeze({
  messageBytes: 16 * 1024 * 1024,
  greetingBytes: Infinity,
  stderrBytes: 64 * 1024,
  writeDeadlineMs: 30_000,
  queueBytes: 32 * 1024 * 1024,
  queueMessages: 16_384,
});

export const DEFAULT_GRACES: TerminationGraces = Object.freeze({
  stdinGraceMs: 2_000,
  sigtermGraceMs: 3_000,
  sigkillGraceMs: 5_000,
});
