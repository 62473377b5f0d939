/**
 * The last net: when the host's process exits with servers still running, their groups are killed there and then. One
 * listener for all, taken off when no server runs. A host that is killed outright never gets here: see `reaper.ts`.
 */
import { killGroupNow } from "./process-group.ts";

const groups = new Set<number>();

function killAll(): void {
  for (const group of groups) killGroupNow(group);
}

/** @returns the function that takes the group off the list again; must be called once it is gone. */
export function killOnHostExit(group: number): () => void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.add(group);
  return () => {
    if (groups.delete(group) && groups.size === 0) process.off("exit", killAll);
  };
}
