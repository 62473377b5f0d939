/**
 * The ladder that ends a server: end of stdin, SIGTERM to its group, SIGKILL to its group; after each step a wait, and the
 * report only when no process of the group is left (2025-11-25 lifecycle, shutdown; STDIO-08). Never throws.
 */
import type { Clock } from "../base/clock.ts";
import { endGroup, isGroupGone, listGroup } from "./process-group.ts";
import type { ServerProcess } from "./process.ts";
import type { CloseReport } from "./transport.ts";

export interface TerminationGraces {
  /** Milliseconds after the end of stdin. */
  readonly stdinGraceMs: number;
  /** Milliseconds after SIGTERM. */
  readonly sigtermGraceMs: number;
  /** Milliseconds after SIGKILL. */
  readonly sigkillGraceMs: number;
}

/** Where the ladder begins. */
export type FirstStep = "stdin" | "sigterm" | "sigkill";

const FIRST_POLL_MS = 2;
const LAST_POLL_MS = 50;

/** Ends `child` and its group, from `firstStep` on; its pipes are closed when this resolves. */
export async function terminate(
  child: ServerProcess,
  firstStep: FirstStep,
  graces: TerminationGraces,
  clock: Clock,
): Promise<CloseReport> {
  // A server that cannot write any more may never leave: what it still says is read and dropped.
  child.stdout.resume();
  child.stderr.resume();
  try {
    if (child.exit !== undefined && (await isGroupGone(child.pid))) return { how: "clean" };
    if (firstStep === "stdin") {
      child.stdin.end();
      if (await waitForChild(child, graces.stdinGraceMs, clock)) return { how: "clean" };
    }
    child.stdin.destroy();
    const wait = (limitMs: number): Promise<boolean> => waitForChild(child, limitMs, clock);
    return await climb(child.pid, firstStep === "sigkill", graces, wait);
  } catch (error) {
    return { how: "remains", detail: error instanceof Error ? error.message : String(error) };
  } finally {
    child.release();
  }
}

/** Ends a group whose leader is not our child: SIGTERM, then SIGKILL. */
export async function terminateGroup(
  group: number,
  graces: TerminationGraces,
  clock: Clock,
): Promise<CloseReport> {
  try {
    return await climb(group, false, graces, (limitMs) =>
      waitForGroup(group, clock.monotonic() + limitMs, clock),
    );
  } catch (error) {
    return { how: "remains", detail: error instanceof Error ? error.message : String(error) };
  }
}

/** The steps by signal. @param waitUntilGone resolves with whether the group went within so many milliseconds. */
async function climb(
  group: number,
  atOnce: boolean,
  graces: TerminationGraces,
  waitUntilGone: (limitMs: number) => Promise<boolean>,
): Promise<CloseReport> {
  if (!atOnce) {
    await endGroup(group, "SIGTERM");
    if (await waitUntilGone(graces.sigtermGraceMs)) return { how: "terminated" };
  }
  await endGroup(group, "SIGKILL");
  if (await waitUntilGone(graces.sigkillGraceMs)) return { how: "killed" };
  const left = (await listGroup(group)) ?? [];
  const names = left.map(({ pid, state }) => `${pid} (${state})`).join(", ");
  return { how: "remains", detail: `still there after SIGKILL: ${names === "" ? group : names}` };
}

async function waitForChild(child: ServerProcess, limitMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + limitMs;
  if (child.exit === undefined) {
    const limit = new AbortController();
    const isOut = clock.sleep(limitMs, limit.signal).catch(() => undefined);
    await Promise.race([child.exited, isOut]);
    limit.abort();
    if (child.exit === undefined) return false;
  }
  return waitForGroup(child.pid, deadline, clock);
}

async function waitForGroup(group: number, deadline: number, clock: Clock): Promise<boolean> {
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LAST_POLL_MS)) {
    if (await isGroupGone(group)) return true;
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0) return false;
    await clock.sleep(Math.min(pollMs, leftMs));
  }
}
