/**
 * Whether the process of an instance still lives. A living one must never be taken for dead: its calls would be closed
 * under its hands. So every doubt is answered with "alive", and only a lease that ran out ends the doubt.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What an instance says about its process when it registers. */
interface ProcessIdentity {
  readonly pid: number;
  /** Start time as the operating system counts it; empty where it does not tell. */
  readonly processStart: string;
  /** Names the boot and the pid name space: only inside the same one do pids mean anything. */
  readonly machine: string;
}

export interface RegisteredProcess extends ProcessIdentity {
  readonly id: string;
  readonly leaseUntil: number;
}

export interface Liveness {
  readonly self: ProcessIdentity;
  isAlive(instance: RegisteredProcess, now: number): boolean;
  /** The instance is gone for good: what stood for it may go as well. */
  forget(id: string): void;
  close(): void;
}

export type StatLine = { readonly state: string; readonly startTicks: string };

/** The state and start time in the text of `/proc/PID/stat` (proc(5)); `undefined` where it has another form. */
export function parseProcStat(text: string): StatLine | undefined {
  // The second field is the program's name in brackets, and may itself hold blanks and brackets.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields[0], fields[19]];
  return state === undefined || state === "" || startTicks === undefined ? undefined : { state, startTicks };
}

/** Zombies and processes on their way out: they hold a pid and will never do anything again. */
const GONE = new Set(["Z", "X", "x"]);

/**
 * Liveness by `/proc`, where there is one (Linux); `undefined` elsewhere. In the same boot and pid name space pid and start
 * time decide; for all others (another container, another boot) the lease does.
 *
 * @param procDir default `/proc`.
 */
export function createProcLiveness(procDir = "/proc"): Liveness | undefined {
  const own = readStat(procDir, process.pid);
  const machine = readMachine(procDir);
  if (typeof own !== "object" || machine === undefined) return undefined;
  return {
    self: { pid: process.pid, processStart: own.startTicks, machine },
    isAlive(instance, now) {
      if (instance.machine !== machine) return instance.leaseUntil > now;
      const stat = readStat(procDir, instance.pid);
      if (stat === "gone") return false;
      if (stat === "unknown") return true;
      return stat.startTicks === instance.processStart && !GONE.has(stat.state);
    },
    forget: () => undefined,
    close: () => undefined,
  };
}

function readStat(procDir: string, pid: number): StatLine | "gone" | "unknown" {
  try {
    return parseProcStat(readFileSync(`${procDir}/${pid}/stat`, "utf8")) ?? "unknown";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? "gone" : "unknown";
  }
}

function readMachine(procDir: string): string | undefined {
  try {
    const boot = readFileSync(`${procDir}/sys/kernel/random/boot_id`, "utf8").trim();
    return `${hostname()} ${boot} ${readlinkSync(`${procDir}/self/ns/pid`)}`;
  } catch {
    return undefined;
  }
}
