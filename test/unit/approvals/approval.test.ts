import { describe, expect, it } from "vitest";
import {
  answered,
  atTime,
  consumed,
  type Approval,
  type PersonAnswer,
} from "../../../src/approvals/approval.ts";
import { PortcullisError } from "../../../src/errors.ts";

const CALL = { principal: "local", server: "s", tool: "t", digest: "d1", pin: "p1" };

function approval(more: Partial<Approval> = {}): Approval {
  return {
    id: "a",
    group: "g",
    number: 1,
    binding: CALL,
    grade: "L2",
    toType: null,
    itemCount: null,
    createdAt: 0,
    expiresAt: 100,
    state: { kind: "pending", confirmations: [] },
    ...more,
  };
}

function answer(more: Partial<PersonAnswer> = {}): PersonAnswer {
  return {
    verdict: "approve",
    by: "ann",
    channel: "console",
    at: 50,
    reason: null,
    without: [],
    typed: null,
    ...more,
  };
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof PortcullisError ? error.code : String(error);
  }
  return "none";
}

const noDigest = (): never => {
  throw new Error("not needed");
};

const given = answered(approval(), answer(), noDigest);
const refused = answered(approval(), answer({ verdict: "deny", reason: "no" }), noDigest);
const used = consumed(given, CALL, 60);

describe("an approval", () => {
  it("goes from pending to approved to consumed", () => {
    expect(given.state).toMatchObject({
      kind: "approved",
      digest: "d1",
      without: [],
      confirmations: [{ by: "ann" }],
    });
    expect(used.state).toMatchObject({ kind: "consumed", at: 60, digest: "d1" });
  });

  it.each([
    ["approved", given, "approval_stale"],
    ["denied", refused, "approval_stale"],
    ["consumed", used, "approval_stale"],
    ["expired", approval({ expiresAt: 50 }), "approval_expired"],
  ])("that is %s cannot be answered", (_what, state, code) => {
    expect(codeOf(() => answered(state, answer(), noDigest))).toBe(code);
    expect(codeOf(() => answered(state, answer({ verdict: "deny" }), noDigest))).toBe(code);
  });

  it.each([
    ["pending", approval(), CALL, 60, "approval_needed"],
    ["denied", refused, CALL, 60, "approval_denied"],
    ["used before", used, CALL, 61, "approval_stale"],
    ["too late by nothing", given, CALL, 100, "approval_expired"],
    ["for other arguments", given, { ...CALL, digest: "d2" }, 60, "approval_stale"],
    ["for another principal", given, { ...CALL, principal: "x" }, 60, "approval_stale"],
    ["for another pin", given, { ...CALL, pin: "p2" }, 60, "approval_stale"],
  ])("that is %s cannot be used", (_what, state, call, now, code) => {
    expect(codeOf(() => consumed(state, call, now))).toBe(code);
  });

  it("expires at its time, not before, and only where it is open", () => {
    expect(atTime(approval(), 99).state.kind).toBe("pending");
    expect(atTime(approval(), 100).state).toEqual({ kind: "expired", at: 100 });
    expect(atTime(used, 1_000)).toBe(used);
    expect(atTime(refused, 1_000)).toBe(refused);
  });

  it("without some items is bound to the arguments that are left", () => {
    const list = approval({ itemCount: 3 });
    expect(answered(list, answer({ without: [2, 0, 2] }), () => "d3").state).toMatchObject({
      kind: "approved",
      without: [0, 2],
      digest: "d3",
    });
    expect(answered(list, answer({ without: [0, 1, 2] }), noDigest).state.kind).toBe("denied");
    for (const without of [[3], [-1], [0.5]])
      expect(codeOf(() => answered(list, answer({ without }), noDigest))).toBe("usage");
    expect(codeOf(() => answered(approval(), answer({ without: [0] }), noDigest))).toBe("usage");
  });

  it("of L3 takes two confirmations, one of them typed", () => {
    const grave = approval({ grade: "L3", toType: "delete_all" });
    const once = answered(grave, answer(), noDigest);
    expect(once.state).toMatchObject({ kind: "pending", confirmations: [{ by: "ann" }] });
    expect(answered(once, answer({ by: "bob" }), noDigest).state).toMatchObject({
      kind: "pending",
      confirmations: [{ by: "ann" }],
    });
    expect(codeOf(() => answered(once, answer({ typed: "delete_ALL" }), noDigest))).toBe(
      "confirmation_needed",
    );
    expect(codeOf(() => answered(once, answer({ typed: "" }), noDigest))).toBe("confirmation_needed");
    expect(answered(once, answer({ typed: "delete_all", by: "bob" }), noDigest).state).toMatchObject({
      kind: "approved",
      confirmations: [{ by: "ann" }, { by: "bob" }],
    });
    expect(codeOf(() => answered(approval({ grade: "L3" }), answer({ typed: "" }), noDigest))).toBe(
      "confirmation_needed",
    );
  });
});
