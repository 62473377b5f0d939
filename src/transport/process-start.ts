/**
 * When a process started, as the operating system tells it: a pid that was given to another process meanwhile has another
 * start. Also which group and session a process is in. Read from `/proc` on Linux; elsewhere nothing is known, and who asks
 * must then leave the process alone.
 */
import { readFileSync, readlinkSync } from "node:fs";

/** What `/proc/PID/stat` says, as far as it is needed here. See proc_pid_stat(5). */
export interface ProcessStat {
  readonly pid: number;
  /** One letter: `R` `S` `D` run or wait, `Z` and `X` are dead. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly startTicks: number;
}

/** Parses the text of `/proc/PID/stat`; the name in parentheses may itself hold spaces and parentheses. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text
    .slice(close + 2)
    .trim()
    .split(" ");
  const pid = Number(text.slice(0, open));
  const [state] = fields;
  const [parent, group, session, startTicks] = [fields[1], fields[2], fields[3], fields[19]].map(Number);
  if (state === undefined || parent === undefined || group === undefined || session === undefined)
    return undefined;
  if (startTicks === undefined || ![pid, parent, group, session, startTicks].every(Number.isSafeInteger))
    return undefined;
  return { pid, state, parent, group, session, startTicks };
}

/** What is known of process `pid`; `undefined` where it is gone or the platform does not tell. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

let machine: string | undefined;

/** Boot id and pid namespace: start ticks and pids mean nothing outside them. */
function describeMachine(): string {
  machine ??= [
    readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    readOr(() => readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")),
  ].join(":");
  return machine;
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** The start as one string: boot id, pid namespace, clock ticks since boot. `undefined` where it is not known. */
export function processStartOf(pid: number): string | undefined {
  const stat = readProcessStat(pid);
  return stat === undefined ? undefined : `${describeMachine()}:${stat.startTicks}`;
}

/** The clock ticks in a start that was told here, since this boot; `undefined` for one of another machine or boot. */
export function ticksHere(processStart: string): number | undefined {
  const here = `${describeMachine()}:`;
  if (!processStart.startsWith(here)) return undefined;
  const ticks = Number(processStart.slice(here.length));
  return Number.isSafeInteger(ticks) ? ticks : undefined;
}
