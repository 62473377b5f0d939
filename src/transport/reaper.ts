/**
 * Ends what a killed host left behind. Every host writes its children down; at its start a host ends the groups of hosts
 * that live no more. A process that merely has the same number is never touched: the start time must fit, on the same boot
 * and in the same pid namespace; where it is not known, nothing is done.
 */
import type { Clock } from "../base/clock.ts";
import { isJsonObject, ownProperty, type JsonValue } from "../base/json.ts";
import type { Documents } from "../store/store.ts";
import { listGroup } from "./process-group.ts";
import { ticksHere, type ProcessStat } from "./process-start.ts";
import { terminateGroup, type TerminationGraces } from "./process-termination.ts";
import { DEFAULT_GRACES, type RegisterChild } from "./stdio-options.ts";

const COLLECTION = "children";
/** Longer than any boot that matters: an entry of a machine that never comes back goes by itself. */
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

/** A child as it is written down in the collection `children`, under `INSTANCE/PID/START`. */
interface WrittenChild {
  readonly instance: string;
  readonly pid: number;
  readonly processStart: string | null;
  readonly command: string;
}

/**
 * For `StdioTransportOptions.registerChild`.
 *
 * @param instanceId of this host; `isInstanceAlive` of the next one is asked about it.
 */
export function createChildRegister(documents: Documents, instanceId: string, clock: Clock): RegisterChild {
  return async ({ pid, processStart, command }) => {
    // The start belongs to the key: striking off an old child never strikes off a new one that got its number.
    const key = `${instanceId}/${pid}/${processStart ?? ""}`;
    const value = { instance: instanceId, pid, processStart: processStart ?? null, command };
    // A power cut ends the children too: the entry need not survive it, only the end of this process.
    await documents.put(COLLECTION, key, value, { durable: false, expiresAt: clock.now() + FORGET_AFTER_MS });
    return async () => void (await documents.delete(COLLECTION, key));
  };
}

export type Judgement =
  /** Ours, alive, or not to be judged from here: leave it and its entry. */
  | { readonly verdict: "spare"; readonly reason: string }
  /** Nothing of it is left. */
  | { readonly verdict: "forget" }
  /** Left over: end the group. */
  | { readonly verdict: "end" };

/** What is known about a written child when it is judged. */
export interface ChildFacts {
  readonly isInstanceAlive: boolean;
  /** The start as ticks of this machine's boot; `undefined` where it was on another one or is not known. */
  readonly startTicks: number | undefined;
  /** The living members of its group and session; `undefined` where the platform does not tell. */
  readonly members: readonly ProcessStat[] | undefined;
}

/** Decides about one child; pure. */
export function judgeChild(pid: number, facts: ChildFacts): Judgement {
  if (facts.isInstanceAlive) return { verdict: "spare", reason: "its host lives" };
  if (facts.startTicks === undefined)
    return { verdict: "spare", reason: "it was started elsewhere, or its start is not known" };
  if (facts.members === undefined)
    return { verdict: "spare", reason: "this platform does not tell when a process started" };
  if (facts.members.length === 0) return { verdict: "forget" };
  const leader = facts.members.find((member) => member.pid === pid);
  // The number is taken by another process, which the kernel allows only once the whole old group is gone.
  if (leader !== undefined)
    return leader.startTicks === facts.startTicks ? { verdict: "end" } : { verdict: "forget" };
  // The leader is gone and its group lives on, so the number was not given away meanwhile. Members that are older than the
  // leader, or of another session, are not its children.
  const startTicks = facts.startTicks;
  const areChildren = facts.members.every(
    (member) => member.session === pid && member.startTicks >= startTicks,
  );
  return areChildren
    ? { verdict: "end" }
    : { verdict: "spare", reason: "its group holds processes that are not its own" };
}

export interface ReapReport {
  readonly ended: readonly WrittenChild[];
  /** Ended by themselves; only the entry was left. */
  readonly forgotten: readonly WrittenChild[];
  readonly spared: readonly { readonly child: WrittenChild; readonly reason: string }[];
}

export interface ReapOptions {
  readonly documents: Documents;
  /** Whether the host of that id still lives; the store's `instances` know. */
  isInstanceAlive(instanceId: string): boolean | Promise<boolean>;
  readonly clock: Clock;
  readonly graces?: Partial<TerminationGraces>;
}

/** Ends the groups of dead hosts, all at a time, and strikes them off. Two hosts may do it at once. @throws what the store throws. */
export async function reapLeftovers(options: ReapOptions): Promise<ReapReport> {
  const { documents, clock } = options;
  const graces = { ...DEFAULT_GRACES, ...options.graces };
  const ended: WrittenChild[] = [];
  const forgotten: WrittenChild[] = [];
  const spared: { child: WrittenChild; reason: string }[] = [];

  const reap = async (key: string, child: WrittenChild): Promise<void> => {
    const judgement = judgeChild(child.pid, {
      isInstanceAlive: await options.isInstanceAlive(child.instance),
      startTicks: child.processStart === null ? undefined : ticksHere(child.processStart),
      members: await listGroup(child.pid),
    });
    if (judgement.verdict === "spare") {
      spared.push({ child, reason: judgement.reason });
      return;
    }
    if (judgement.verdict === "end") {
      const report = await terminateGroup(child.pid, graces, clock);
      if (report.how === "remains") {
        spared.push({ child, reason: report.detail ?? "it did not go" });
        return;
      }
    }
    (judgement.verdict === "end" ? ended : forgotten).push(child);
    await documents.delete(COLLECTION, key);
  };

  const written = await documents.list(COLLECTION);
  await Promise.all(
    written.map(async ({ key, value }) => {
      const child = toWrittenChild(value);
      if (child === undefined) await documents.delete(COLLECTION, key);
      else await reap(key, child);
    }),
  );
  return { ended, forgotten, spared };
}

/** `undefined` for what was not written here. */
function toWrittenChild(value: JsonValue): WrittenChild | undefined {
  if (!isJsonObject(value)) return undefined;
  const instance = ownProperty(value, "instance");
  const pid = ownProperty(value, "pid");
  const processStart = ownProperty(value, "processStart");
  const command = ownProperty(value, "command");
  if (typeof instance !== "string" || typeof command !== "string") return undefined;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
  if (processStart !== null && typeof processStart !== "string") return undefined;
  return { instance, pid, processStart, command };
}
