/**
 * A server and all that it started, as one thing: its process group, and other groups of the same session (a shell with job
 * control makes such). A process that made a session of its own has left, and is not found here.
 *
 * Zombies do not count: in a container nobody may ever reap an orphan, and it runs no more.
 * On Windows there are no groups: `taskkill /T` ends the tree. That branch has not been tested on Windows.
 */
import { spawn, spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { errnoOf } from "./process-error.ts";
import { parseProcessStat, type ProcessStat } from "./process-start.ts";

const isWindows = process.platform === "win32";
const isLinux = process.platform === "linux";

/** Signal 0 asks only. */
type GroupSignal = NodeJS.Signals | 0;

/** @returns false where no process of the group exists any more, as far as the operating system tells at once. */
export function signalGroup(group: number, signal: GroupSignal): boolean {
  // A group of 0 or 1 would be our own or everybody's.
  if (!Number.isSafeInteger(group) || group <= 1) return false;
  try {
    process.kill(isWindows ? group : -group, signal);
    return true;
  } catch (error) {
    // Not permitted: something is there under another user. On macOS a group of zombies answers the same.
    return errnoOf(error) === "EPERM" && process.platform !== "darwin";
  }
}

/** The living members of the group and of its session; `undefined` where the platform does not tell (no `/proc`). */
export async function listGroup(group: number): Promise<readonly ProcessStat[] | undefined> {
  if (!isLinux) return undefined;
  let pids: string[];
  try {
    pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  const members: ProcessStat[] = [];
  const readAtOnce = 64;
  for (let at = 0; at < pids.length; at += readAtOnce) {
    const stats = await Promise.all(pids.slice(at, at + readAtOnce).map(readStat));
    for (const stat of stats) if (stat !== undefined && isMember(stat, group)) members.push(stat);
  }
  return members;
}

function isMember(stat: ProcessStat, group: number): boolean {
  return (stat.group === group || stat.session === group) && stat.state !== "Z" && stat.state !== "X";
}

async function readStat(pid: string): Promise<ProcessStat | undefined> {
  try {
    return parseProcessStat(await readFile(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** Ends the group by `signal`, with every other group of its session. On Windows every signal ends the whole tree by force. */
export async function endGroup(group: number, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (isWindows) {
    await new Promise<void>((resolve) => {
      const killer = spawn("taskkill", ["/PID", String(group), "/T", "/F"], {
        stdio: "ignore",
        windowsHide: true,
      });
      killer.once("error", () => resolve());
      killer.once("exit", () => resolve());
    });
    return;
  }
  signalGroup(group, signal);
  const members = (await listGroup(group)) ?? [];
  for (const other of new Set(members.map((member) => member.group))) {
    if (other !== group) signalGroup(other, signal);
  }
}

/** Kills the group without waiting for anything: for the last moment of the host. */
export function killGroupNow(group: number): void {
  if (isWindows)
    spawnSync("taskkill", ["/PID", String(group), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  else signalGroup(group, "SIGKILL");
}

/** True where no living process of the group is left. */
export async function isGroupGone(group: number): Promise<boolean> {
  const members = await listGroup(group);
  return members === undefined ? !signalGroup(group, 0) : members.length === 0;
}
