/** How a question gets into the store: an open one that nobody waits for any more is taken over, otherwise a new one is laid down. */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Instances } from "../store/store.ts";
import { isSameBinding, type CallBinding, type Grade } from "../vocabulary.ts";
import { atTime, type Approval } from "./approval.ts";
import { itemsAt } from "./argument-path.ts";
import { bindingOf, textToType, type Ask } from "./ask.ts";
import type { Shelf, Shelved, ShelvedVersion } from "./shelf.ts";

export interface Inbox {
  /** @returns the id of the approval that this call now waits for. Not to be run twice at a time for one group. */
  put(ask: Ask): Promise<string>;
}

export interface InboxOptions {
  readonly shelf: Shelf;
  readonly instances: Pick<Instances, "self" | "list" | "listDead">;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs: () => number;
  readonly onCreated: (approval: Approval, ask: Ask) => void;
}

export function createInbox({ shelf, instances, clock, random, timeoutMs, onCreated }: InboxOptions): Inbox {
  /** What lies in the store for the same call and is waited for by nobody who lives, oldest first. */
  const findLeft = async (
    call: CallBinding,
    grade: Grade,
    all: readonly ShelvedVersion[],
  ): Promise<readonly ShelvedVersion[]> => {
    const same = all.filter(
      ({ shelved: { approval } }) => isSameBinding(approval.binding, call) && approval.grade === grade,
    );
    if (same.length === 0) return [];
    const alive = new Set((await instances.list()).map(({ id }) => id));
    for (const { id } of await instances.listDead()) alive.delete(id);
    const now = clock.now();
    return same.filter(({ shelved }) => {
      if (shelved.isDelivered || (shelved.waiter !== null && alive.has(shelved.waiter))) return false;
      const { kind } = atTime(shelved.approval, now).state;
      return kind === "pending" || kind === "approved" || kind === "denied";
    });
  };

  const shelve = async (ask: Ask, number: number): Promise<Shelved> => {
    const {
      group,
      callId,
      grade,
      exposedName,
      session,
      needsPerson,
      say,
      items,
      title,
      origins,
      reasons,
      preview,
    } = ask;
    const id = random.bytes(5).toString("hex");
    const now = clock.now();
    const toType = grade === "L3" ? textToType(ask) : null;
    return {
      approval: {
        id,
        group,
        number,
        binding: bindingOf(ask),
        grade,
        toType,
        itemCount: itemsAt(ask.arguments, items)?.length ?? null,
        createdAt: now,
        expiresAt: now + timeoutMs(),
        state: { kind: "pending", confirmations: [] },
      },
      sealed: await shelf.sealAsk(id, {
        arguments: ask.arguments,
        say,
        items,
        title,
        origins,
        reasons,
        preview,
        toType,
      }),
      waiter: instances.self.id,
      callId,
      isDelivered: false,
      exposedName,
      session,
      needsPerson,
    };
  };

  return {
    async put(ask) {
      const all = await shelf.list();
      for (const left of await findLeft(bindingOf(ask), ask.grade, all)) {
        const { id, state } = left.shelved.approval;
        if (state.kind === "denied") return id;
        const taken = { ...left.shelved, waiter: instances.self.id, callId: ask.callId };
        if (await shelf.replace(left, taken, clock.now())) return id;
      }
      const inGroup = all.filter(({ shelved }) => shelved.approval.group === ask.group);
      const number = 1 + Math.max(0, ...inGroup.map(({ shelved }) => shelved.approval.number));
      for (;;) {
        const shelved = await shelve(ask, number);
        // Another one with the same short id: draw again.
        if (!(await shelf.create(shelved))) continue;
        onCreated(shelved.approval, ask);
        return shelved.approval.id;
      }
    },
  };
}
