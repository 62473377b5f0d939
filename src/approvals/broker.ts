/**
 * The broker: asks go in, answers come out, and in between they lie in the store, so that whoever answers needs no
 * connection to the process that waits.
 *
 * Invariants: a waiting call can be cancelled, the approval lives on to its own expiry, and the same call again (principal,
 * digest, pin) uses what was answered meanwhile; an approval is used by compare-and-set, so exactly one call gets it; a
 * channel that the configuration does not name for this grade answers nothing.
 */
import { throwIfAborted, untilAborted } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { digestJson, type JsonObject } from "../base/json.ts";
import { createKeyedLock } from "../base/keyed-lock.ts";
import type { Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { CallBinding, Grade } from "../vocabulary.ts";
import { answerOne, unknownApproval, type AnswerInput, type AnswerReport } from "./answer.ts";
import { atTime, consumed, neededConfirmations, type Approval, type Channel } from "./approval.ts";
import { withoutItems } from "./argument-path.ts";
import { bindingOf, type Answer, type Ask } from "./ask.ts";
import type { Grants } from "./grants.ts";
import type { MakeVisible } from "./plain-text.ts";
import { sentenceFor } from "./sentence.ts";
import { createInbox } from "./inbox.ts";
import { createShelf, type Seal } from "./shelf.ts";
import { createWakeUp } from "./wake-up.ts";
import { viewOf, type ApprovalView } from "./view.ts";

export type { Ask } from "./ask.ts";

export interface Broker {
  /**
   * Asks and waits. What comes back as `approved` is used up by coming back.
   *
   * @throws the reason of `signal`; the approval then lives on without a waiter.
   */
  request(ask: Ask, signal: AbortSignal): Promise<Answer>;
  /**
   * One person's answer to one approval.
   *
   * @throws PortcullisError `not_found` (unknown, or forgotten since), `approval_expired`, `approval_stale` (answered before), `policy_denied`
   *   (channel not allowed), `confirmation_needed` (typed wrong), `usage`.
   */
  answer(id: string, answer: AnswerInput): Promise<AnswerReport>;
  /**
   * One screen, one answer: of the approvals that the person has `seen`, those whose number is in `without` are denied and the
   * others approved. L3 stays waiting for its own two confirmations.
   */
  answerGroup(
    group: string,
    answer: Omit<AnswerInput, "verdict" | "without" | "typed" | "grant"> & {
      readonly seen: readonly string[];
      readonly without: readonly number[];
    },
  ): Promise<readonly (AnswerReport | { readonly id: string; readonly error: PortcullisError })[]>;
  /** What waits now, oldest first, ready to be shown. */
  list(): Promise<readonly ApprovalView[]>;
  /** Uses an approval without waiting. @throws PortcullisError as `consumed`. */
  consume(id: string, ask: Ask): Promise<Answer>;
  /** Ends the watching; whoever still waits gets `interrupted`. */
  close(): void;
}

export interface BrokerOptions {
  readonly store: Pick<Store, "documents" | "watch" | "instances">;
  readonly clock: Clock;
  readonly random: Random;
  readonly seal: Seal;
  readonly makeVisible: MakeVisible;
  /** How long an approval lives; default 5 minutes. A function where the configuration can change. */
  readonly timeoutMs?: number | (() => number);
  /** Which channels may answer calls of a grade (`approvals.channels`). A function where the configuration can change. */
  readonly channels: readonly Channel[] | ((grade: Grade) => readonly Channel[]);
  /** Where standing approvals given with an answer go; without it there are none. */
  readonly grants?: Grants;
  readonly emit?: (event: HostEvent) => void;
}

interface Pending {
  readonly expiresAt: number;
}

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1_000;

export function createBroker(options: BrokerOptions): Broker {
  const { store, clock, random, makeVisible } = options;
  const { channels, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const shelf = createShelf(store.documents, options.seal);
  const groups = createKeyedLock();
  const wakeUp = createWakeUp((listener) => store.watch("approvals", listener));
  const self = store.instances.self.id;

  const channelsFor = (grade: Grade): readonly Channel[] =>
    typeof channels === "function" ? channels(grade) : channels;

  const announce = (approval: Approval, ask: Ask): void => {
    options.emit?.({
      type: "approval.requested",
      at: approval.createdAt,
      approvalId: approval.id,
      group: approval.group,
      server: ask.server,
      tool: ask.tool,
      sentence: sentenceFor({ ...ask, makeVisible }),
      expiresAt: approval.expiresAt,
    });
  };

  const inbox = createInbox({
    shelf,
    instances: store.instances,
    clock,
    random,
    timeoutMs: () => (typeof timeoutMs === "function" ? timeoutMs() : timeoutMs),
    onCreated: announce,
  });

  const expire = (id: string, now: number): Answer => {
    options.emit?.({
      type: "approval.answered",
      at: now,
      approvalId: id,
      answer: "expired",
      by: null,
      channel: null,
    });
    return { kind: "expired", approvalId: id };
  };

  /** One look at the approval: the answer where there is one and this call got it, otherwise until when it waits. */
  const look = async (
    id: string,
    call: CallBinding,
    args: JsonObject,
    items: string | null,
  ): Promise<Answer | Pending> => {
    for (;;) {
      const found = await shelf.read(id);
      const now = clock.now();
      // The store forgets a waiting one at its expiry, with everything in it.
      if (found === undefined) return expire(id, now);
      const approval = atTime(found.shelved.approval, now);
      const { state } = approval;
      switch (state.kind) {
        case "pending":
          return { expiresAt: approval.expiresAt };
        case "denied": {
          // Once delivered it stands for nothing more: the same call again is a new question.
          if (!(await shelf.replace(found, { ...found.shelved, isDelivered: true }, now))) continue;
          return {
            kind: "denied",
            approvalId: id,
            by: state.by,
            channel: state.channel,
            at: state.at,
            reason: state.reason,
          };
        }
        case "expired": {
          if (found.shelved.approval.state.kind === "expired") return { kind: "expired", approvalId: id };
          if (!(await shelf.replace(found, { ...found.shelved, approval }, now))) continue;
          return expire(id, now);
        }
        case "approved": {
          const after = consumed(approval, call, now);
          if (!(await shelf.replace(found, { ...found.shelved, approval: after }, now))) continue;
          await shelf.keepUsed(found.shelved, now);
          return approvedAnswer(approval, call, args, items);
        }
        case "consumed":
          throw new PortcullisError("approval_stale", `approval \`${id}\` was used before`);
      }
    }
  };

  const abandon = async (id: string): Promise<void> => {
    for (let found = await shelf.read(id); found?.shelved.waiter === self; found = await shelf.read(id)) {
      if (await shelf.replace(found, { ...found.shelved, waiter: null }, clock.now())) return;
    }
  };

  const answer = async (id: string, input: AnswerInput): Promise<AnswerReport> => {
    const report = await answerOne(
      { shelf, clock, channels: channelsFor, grants: options.grants ?? null, makeVisible },
      id,
      input,
    );
    if (report.state !== "pending") {
      const { by, channel } = input;
      options.emit?.({
        type: "approval.answered",
        at: clock.now(),
        approvalId: id,
        answer: report.state,
        by,
        channel,
      });
    }
    wakeUp.wakeAll();
    return report;
  };

  const waitFor = async (id: string, ask: Ask, call: CallBinding, signal: AbortSignal): Promise<Answer> => {
    const wait = wakeUp.join();
    let timer: Timer | undefined;
    try {
      for (;;) {
        const woken = wait.next();
        throwIfAborted(signal);
        const found = await look(id, call, ask.arguments, ask.items);
        if ("kind" in found) return found;
        timer ??= clock.timer(found.expiresAt - clock.now(), () => wait.wake());
        await untilAborted(woken, signal);
      }
    } finally {
      timer?.cancel();
      wait.leave();
    }
  };

  return {
    async request(ask, signal) {
      const call = bindingOf(ask);
      const id = await groups.run(ask.group, () => inbox.put(ask), signal);
      try {
        return await waitFor(id, ask, call, signal);
      } catch (error) {
        // The caller is gone, the question stays: the same call again picks it up.
        await abandon(id).catch(() => undefined);
        throw error;
      }
    },
    answer,
    async answerGroup(group, { seen, without, ...input }) {
      const reports: (AnswerReport | { id: string; error: PortcullisError })[] = [];
      for (const id of seen) {
        try {
          const approval = (await shelf.read(id))?.shelved.approval;
          if (approval?.group !== group)
            throw new PortcullisError("not_found", `no approval \`${id}\` waits in this group`);
          const isVetoed = without.includes(approval.number);
          if (!isVetoed && neededConfirmations(approval.grade) > 1) {
            throw new PortcullisError(
              "confirmation_needed",
              `approval \`${id}\` is ${approval.grade} and is confirmed by itself`,
            );
          }
          reports.push(await answer(id, { ...input, verdict: isVetoed ? "deny" : "approve" }));
        } catch (error) {
          if (!(error instanceof PortcullisError)) throw error;
          reports.push({ id, error });
        }
      }
      return reports;
    },
    async list() {
      const now = clock.now();
      const waiting = (await shelf.list())
        .map(({ shelved }) => shelved)
        .filter(({ approval }) => atTime(approval, now).state.kind === "pending")
        .sort(
          (one, other) =>
            one.approval.createdAt - other.approval.createdAt || one.approval.number - other.approval.number,
        );
      return Promise.all(waiting.map((shelved) => viewOf(shelf, shelved, makeVisible)));
    },
    async consume(id, ask) {
      const call = bindingOf(ask);
      const found = await shelf.read(id);
      if (found === undefined) throw unknownApproval(id);
      consumed(found.shelved.approval, call, clock.now());
      const looked = await look(id, call, ask.arguments, ask.items);
      if (!("kind" in looked))
        throw new PortcullisError("approval_needed", `approval \`${id}\` has not been answered`);
      return looked;
    },
    close() {
      wakeUp.close(
        new PortcullisError("interrupted", "the broker was closed while a call waited for an answer"),
      );
    },
  };
}

function approvedAnswer(
  approval: Approval,
  call: CallBinding,
  args: JsonObject,
  items: string | null,
): Answer {
  if (approval.state.kind !== "approved")
    throw new PortcullisError("internal", "only an approved call may go on");
  const { confirmations, without, digest } = approval.state;
  const reduced = without.length === 0 || items === null ? args : withoutItems(args, items, without);
  if (digestJson(reduced) !== digest) {
    throw new PortcullisError("approval_stale", `approval \`${approval.id}\` is for other arguments`);
  }
  return {
    kind: "approved",
    approvalId: approval.id,
    arguments: reduced,
    approval: {
      id: approval.id,
      binding: { ...call, digest },
      confirmations: confirmations.length,
      expiresAt: approval.expiresAt,
    },
    confirmations,
    without,
  };
}
