/** Which processes live, seen from outside, by reading `/proc`: the judge of "no process is left". */
import { readdirSync, readFileSync } from "node:fs";

/** Pids of the living (no zombies) in the group or session `group`. */
export function livingMembers(group: number | undefined): number[] {
  if (group === undefined) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const fields = statFields(pid);
      return (
        fields !== undefined &&
        isAliveState(fields[0]) &&
        (Number(fields[2]) === group || Number(fields[3]) === group)
      );
    });
}

/** Whether `pid` runs; a zombie does not. */
export function isLiving(pid: number): boolean {
  return isAliveState(statFields(pid)?.[0]);
}

function isAliveState(state: string | undefined): boolean {
  return state !== undefined && state !== "Z" && state !== "X";
}

/** What stands behind the name in `/proc/PID/stat`, from the state on. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
