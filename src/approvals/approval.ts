/**
 * One approval, as a value and its pure transitions. pending → approved | denied | expired; approved → consumed | expired.
 *
 * Invariants: the first answer wins; an approval is bound to principal, server, tool, digest of the arguments and pin; it is
 * used once; after `expiresAt` nothing answers or uses it; L3 needs two confirmations, the second by typing; approving none
 * of the items is refusing.
 */
import { PortcullisError } from "../errors.ts";
import { isSameBinding, type CallBinding, type Grade, type Principal } from "../vocabulary.ts";

/** Where an answer came in. The configuration says which of them count. */
export type Channel = "terminal" | "console" | "callback" | "elicitation";

/** One yes of one person. */
export interface Confirmation {
  readonly by: Principal;
  readonly channel: Channel;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type ApprovalState =
  | { readonly kind: "pending"; readonly confirmations: readonly Confirmation[] }
  | {
      readonly kind: "approved";
      readonly confirmations: readonly Confirmation[];
      /** Items taken out, counted from 0. */
      readonly without: readonly number[];
      /** Digest of the arguments that were approved: those asked about, without the items taken out. */
      readonly digest: string;
    }
  | {
      readonly kind: "denied";
      readonly by: Principal;
      readonly channel: Channel;
      readonly at: number;
      readonly reason: string | null;
    }
  | { readonly kind: "expired"; readonly at: number }
  | {
      readonly kind: "consumed";
      readonly confirmations: readonly Confirmation[];
      readonly without: readonly number[];
      readonly digest: string;
      readonly at: number;
    };

export interface Approval {
  readonly id: string;
  /** Asks of one turn that run side by side. */
  readonly group: string;
  /** 1, 2, 3, … in its group, in the order of asking. */
  readonly number: number;
  readonly binding: CallBinding;
  readonly grade: Grade;
  /** What the second confirmation of L3 has to type; `null` for the other grades. */
  readonly toType: string | null;
  /** How many items are shown one by one; `null` without `items`. */
  readonly itemCount: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
}

/** What a person says. */
export interface PersonAnswer {
  readonly verdict: "approve" | "deny";
  readonly by: Principal;
  readonly channel: Channel;
  readonly at: number;
  /** For `deny`: reaches the model. */
  readonly reason: string | null;
  /** Items to take out, counted from 0. */
  readonly without: readonly number[];
  /** What the person typed as second confirmation of L3; counts as the first as well where there was none. */
  readonly typed: string | null;
}

/** The approval as it is at `now`: one that nobody answered or used in time has expired. */
export function atTime(approval: Approval, now: number): Approval {
  const { kind } = approval.state;
  if ((kind !== "pending" && kind !== "approved") || now < approval.expiresAt) return approval;
  return { ...approval, state: { kind: "expired", at: approval.expiresAt } };
}

/**
 * The approval after a person's answer.
 *
 * @param digestWithout the digest of the arguments without the items taken out; asked for only where there are some.
 * @throws PortcullisError `approval_expired`, `approval_stale` (answered before), `confirmation_needed` (typed wrong),
 *   `usage` (items that are not there).
 */
export function answered(approval: Approval, answer: PersonAnswer, digestWithout: () => string): Approval {
  const current = atTime(approval, answer.at);
  assertPending(current);
  if (answer.verdict === "deny") return denied(current, answer, answer.reason);
  const without = checkedItems(current, answer.without);
  if (current.itemCount !== null && current.itemCount > 0 && without.length === current.itemCount) {
    return denied(current, answer, answer.reason ?? "every item was taken out");
  }
  const confirmations = confirm(current, answer);
  if (confirmations.length < neededConfirmations(current.grade))
    return { ...current, state: { kind: "pending", confirmations } };
  const digest = without.length === 0 ? current.binding.digest : digestWithout();
  return { ...current, state: { kind: "approved", confirmations, without, digest } };
}

/**
 * The approval after its one use, for exactly the call it was asked for.
 *
 * @throws PortcullisError `approval_stale` (another call, or used before), `approval_expired`, `approval_needed` (not
 *   answered), `approval_denied`.
 */
export function consumed(approval: Approval, call: CallBinding, now: number): Approval {
  if (!isSameBinding(approval.binding, call))
    throw new PortcullisError("approval_stale", `approval \`${approval.id}\` is for another call`);
  const { state } = atTime(approval, now);
  switch (state.kind) {
    case "approved":
      return {
        ...approval,
        state: {
          kind: "consumed",
          confirmations: state.confirmations,
          without: state.without,
          digest: state.digest,
          at: now,
        },
      };
    case "pending":
      throw new PortcullisError("approval_needed", `approval \`${approval.id}\` has not been answered`);
    case "denied":
      throw new PortcullisError("approval_denied", `approval \`${approval.id}\` was denied`);
    case "expired":
      throw new PortcullisError("approval_expired", `approval \`${approval.id}\` has expired`);
    case "consumed":
      throw new PortcullisError("approval_stale", `approval \`${approval.id}\` was used before`);
  }
}

/** L3 takes two, everything else one. */
export function neededConfirmations(grade: Grade): 1 | 2 {
  return grade === "L3" ? 2 : 1;
}

function denied(approval: Approval, answer: PersonAnswer, reason: string | null): Approval {
  return {
    ...approval,
    state: { kind: "denied", by: answer.by, channel: answer.channel, at: answer.at, reason },
  };
}

function assertPending(
  approval: Approval,
): asserts approval is Approval & { readonly state: { readonly kind: "pending" } } {
  const { kind } = approval.state;
  if (kind === "pending") return;
  if (kind === "expired")
    throw new PortcullisError("approval_expired", `approval \`${approval.id}\` has expired`);
  throw new PortcullisError("approval_stale", `approval \`${approval.id}\` was answered before: ${kind}`, {
    data: { state: kind },
  });
}

function checkedItems(approval: Approval, without: readonly number[]): readonly number[] {
  const items = [...new Set(without)].sort((one, other) => one - other);
  const count = approval.itemCount ?? 0;
  const wrong = items.find((item) => !Number.isInteger(item) || item < 0 || item >= count);
  if (wrong === undefined) return items;
  throw new PortcullisError(
    "usage",
    `approval \`${approval.id}\` has ${count} items; there is no item ${wrong + 1}`,
  );
}

function confirm(
  approval: Approval & { readonly state: { readonly kind: "pending" } },
  answer: PersonAnswer,
): readonly Confirmation[] {
  const one: Confirmation = { by: answer.by, channel: answer.channel, at: answer.at };
  const before = (approval.state as Extract<ApprovalState, { kind: "pending" }>).confirmations;
  if (neededConfirmations(approval.grade) === 1) return [one];
  if (answer.typed === null) return before.length === 0 ? [one] : before;
  if (answer.typed.trim() !== approval.toType) {
    throw new PortcullisError("confirmation_needed", `what was typed is not \`${approval.toType ?? ""}\``, {
      data: { toType: approval.toType },
    });
  }
  return before.length === 0 ? [one, one] : [...before, one];
}
