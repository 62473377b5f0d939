/**
 * The edge to the operating system: errno and exit statuses become PortcullisErrors here, and nowhere else. No text of the
 * server stands in a message; its last lines on stderr are in `data.stderrTail`, bounded and with control characters visible.
 */
import { existsSync } from "node:fs";
import { PortcullisError } from "../errors.ts";

/** How a process ended: an exit code or a signal, never both. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The `code` of a Node error such as `ENOENT` or `ERR_STREAM_DESTROYED`; `undefined` where there is none. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export interface SpawnFacts {
  readonly command: string;
  readonly cwd: string;
  /** The PATH that the command was looked for in. */
  readonly path: string | undefined;
}

/** A process that could not be started: `spawn_failed`, naming the command or the working directory, whichever is at fault. */
export function fromSpawnError(error: unknown, facts: SpawnFacts): PortcullisError {
  const errno = errnoOf(error);
  const data = { errno: errno ?? null, command: facts.command, cwd: facts.cwd };
  const failed = (message: string): PortcullisError =>
    new PortcullisError("spawn_failed", message, { cause: error, data });
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
      // The operating system answers the same for a missing command and a missing working directory.
      if (!existsSync(facts.cwd)) return failed(`working directory \`${facts.cwd}\` does not exist`);
      if (/[\\/]/.test(facts.command))
        return failed(`command \`${facts.command}\` does not exist, or its interpreter does not`);
      return failed(`command \`${facts.command}\` was not found in PATH \`${facts.path ?? ""}\``);
    case "EACCES":
    case "EPERM":
      return failed(`command \`${facts.command}\` may not be executed (${errno})`);
    case "E2BIG":
      return failed(
        `arguments and environment of \`${facts.command}\` are too long for the operating system`,
      );
    case "EMFILE":
    case "ENFILE":
    case "EAGAIN":
    case "ENOMEM":
      return failed(`no resources left to start \`${facts.command}\` (${errno})`);
    case "ERR_INVALID_ARG_VALUE":
    case "ERR_INVALID_ARG_TYPE":
      return failed(
        `command, arguments or environment of \`${facts.command}\` hold a value that cannot be passed on`,
      );
    default:
      return failed(
        `command \`${facts.command}\` could not be started${errno === undefined ? "" : ` (${errno})`}`,
      );
  }
}

export interface ExitFacts extends SpawnFacts {
  readonly stderrTail: string;
  /** Whether anything that looks like MCP had come from the process before. */
  readonly hasSpoken: boolean;
}

/** Shells and `env` answer so when the program behind them cannot be run: wrong set-up, which no restart can mend. */
const NOT_FOUND_EXIT = 127;
const NOT_EXECUTABLE_EXIT = 126;

/**
 * A process that ended by itself: `process_exited`, or `spawn_failed` where its exit code says that what it should have
 * started was not there. `data`: `{ exitCode, signal, stderrTail }`.
 */
export function fromProcessExit(exit: ProcessExit, facts: ExitFacts): PortcullisError {
  const data = { exitCode: exit.code, signal: exit.signal, stderrTail: facts.stderrTail };
  if (!facts.hasSpoken && (exit.code === NOT_FOUND_EXIT || exit.code === NOT_EXECUTABLE_EXIT)) {
    const what = exit.code === NOT_FOUND_EXIT ? "was not found" : "may not be executed";
    return new PortcullisError(
      "spawn_failed",
      `a program that \`${facts.command}\` needs ${what} (exit code ${exit.code}; PATH \`${facts.path ?? ""}\`)`,
      { data: { ...data, command: facts.command, cwd: facts.cwd } },
    );
  }
  const how =
    exit.signal === null ? `exited with code ${exit.code ?? "unknown"}` : `was ended by ${exit.signal}`;
  return new PortcullisError("process_exited", `the process of \`${facts.command}\` ${how}`, { data });
}

/** A pipe that broke while its process lives on: `connection_lost`. `data`: `{ errno, stderrTail }`. */
export function fromPipeError(
  error: unknown,
  pipe: "stdin" | "stdout",
  facts: { readonly command: string; readonly stderrTail: string },
): PortcullisError {
  const errno = errnoOf(error);
  const how = errno === undefined ? "was closed" : `broke (${errno})`;
  return new PortcullisError(
    "connection_lost",
    `${pipe} of \`${facts.command}\` ${how}, but its process lives on`,
    {
      cause: error,
      data: { errno: errno ?? null, stderrTail: facts.stderrTail },
    },
  );
}
