/**
 * One server process: started without a shell, in a process group of its own, with three pipes. It is owned from the
 * instant it exists, also before the operating system has confirmed it.
 */
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import crossSpawn from "cross-spawn";
import { onProcessExit } from "../base/process-exit.ts";
import { PortcullisError } from "../errors.ts";
import { fromSpawnError, type ProcessExit, type SpawnFacts } from "./process-error.ts";
import { killGroupNow } from "./process-group.ts";

const isWindows = process.platform === "win32";

export interface ProcessCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Complete: nothing of the host's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

export interface ServerProcess {
  /** Also the number of its process group. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Set once the process itself has ended; what it started may live on. */
  readonly exit: ProcessExit | undefined;
  /** Resolves with the same. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Closes our ends of the pipes and takes the process off the host's exit hook. Only when its group is gone, or given up. */
  release(): void;
}

/** The facts that an error of this command names. */
export function spawnFactsOf(command: ProcessCommand): SpawnFacts {
  return { command: command.command, cwd: command.cwd, path: command.env["PATH"] ?? command.env["Path"] };
}

function refuseUnsafe(command: ProcessCommand): void {
  const line = [command.command, ...command.args];
  const all = [...line, command.cwd, ...Object.keys(command.env), ...Object.values(command.env)];
  // A line break ends a command line of cmd.exe, whatever it is quoted with.
  const hasLineBreak = isWindows && line.some((text) => /[\r\n]/.test(text));
  if (!hasLineBreak && !all.some((text) => text.includes("\0"))) return;
  throw new PortcullisError(
    "spawn_failed",
    `command, arguments or environment of \`${command.command}\` hold a NUL character or a line break`,
    {
      data: { command: command.command, cwd: command.cwd },
    },
  );
}

/**
 * Starts a process; resolves when the operating system has confirmed it.
 *
 * @param onStarted is called at once when the process exists, before it is confirmed.
 * @throws PortcullisError `spawn_failed`; nothing is left then.
 */
export async function startProcess(
  command: ProcessCommand,
  onStarted: (child: ServerProcess) => void = () => undefined,
): Promise<ServerProcess> {
  refuseUnsafe(command);
  const facts = spawnFactsOf(command);
  let child: ChildProcess;
  try {
    child = crossSpawn(command.command, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      // A group (and session) of its own on POSIX. On Windows it would open a console window instead.
      detached: !isWindows,
      windowsHide: true,
    });
  } catch (error) {
    throw fromSpawnError(error, facts);
  }
  const { pid, stdin, stdout, stderr } = child;
  const confirmed = Promise.withResolvers<void>();
  child.once("spawn", () => confirmed.resolve());
  // Stays on: a child process may also report errors later (a signal that could not be sent), which nobody waits for.
  child.on("error", (error) => confirmed.reject(fromSpawnError(error, facts)));
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
    await confirmed.promise;
    throw fromSpawnError(undefined, facts);
  }
  for (const pipe of [stdin, stdout, stderr]) pipe.on("error", () => undefined);

  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    const settle = (): void => {
      exit ??= { code: child.exitCode, signal: child.signalCode };
      resolve(exit);
    };
    child.once("exit", settle);
    // On Windows a command that cmd.exe did not find comes as an error in place of the exit.
    child.on("error", () => {
      if (child.exitCode !== null || child.signalCode !== null) settle();
    });
  });
  // The last net: a host that exits with servers still running kills them there and then. See `reaper.ts` for one that is killed.
  const unhook = onProcessExit(() => killGroupNow(pid));
  const started: ServerProcess = {
    pid,
    stdin,
    stdout,
    stderr,
    get exit() {
      return exit;
    },
    exited,
    release() {
      unhook();
      for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
    },
  };
  onStarted(started);
  await confirmed.promise;
  return started;
}
