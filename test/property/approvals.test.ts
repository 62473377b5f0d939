import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  answered,
  atTime,
  consumed,
  neededConfirmations,
  type Approval,
  type ApprovalState,
} from "../../src/approvals/approval.ts";
import { itemsAt, withoutItems } from "../../src/approvals/argument-path.ts";
import { sentenceFor } from "../../src/approvals/sentence.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { PortcullisError } from "../../src/errors.ts";
import type { Grade } from "../../src/vocabulary.ts";

const CALL = { principal: "local", server: "s", tool: "t", digest: "d", pin: "p" };

const step = fc.oneof(
  fc.record({
    kind: fc.constant("answer" as const),
    verdict: fc.constantFrom("approve" as const, "deny" as const),
    by: fc.constantFrom("ann", "bob"),
    typed: fc.constantFrom(null, "t", "wrong"),
    without: fc.constantFrom([], [0], [0, 1], [5]),
    at: fc.integer({ min: 0, max: 120 }),
  }),
  fc.record({
    kind: fc.constant("consume" as const),
    call: fc.constantFrom(CALL, { ...CALL, digest: "x" }, { ...CALL, principal: "x" }, { ...CALL, pin: "x" }),
    at: fc.integer({ min: 0, max: 120 }),
  }),
);

const start = fc.record({
  grade: fc.constantFrom<Grade>("L1", "L2", "L3"),
  itemCount: fc.constantFrom(null, 2),
});

/** The way that each state may go. */
const NEXT: Readonly<Record<ApprovalState["kind"], readonly ApprovalState["kind"][]>> = {
  pending: ["pending", "approved", "denied", "expired"],
  approved: ["approved", "consumed", "expired"],
  denied: ["denied"],
  expired: ["expired"],
  consumed: ["consumed"],
};

describe("an approval", () => {
  it("goes only the ways that it may, is used at most once, and only for its call and in its time", () => {
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 12 }), ({ grade, itemCount }, steps) => {
        let approval: Approval = {
          id: "a",
          group: "g",
          number: 1,
          binding: CALL,
          grade,
          toType: grade === "L3" ? "t" : null,
          itemCount,
          createdAt: 0,
          expiresAt: 100,
          state: { kind: "pending", confirmations: [] },
        };
        let now = 0;
        let used = 0;
        for (const one of steps) {
          // Time only goes forward.
          now = Math.max(now, one.at);
          const before = approval;
          try {
            if (one.kind === "answer") {
              approval = answered(
                before,
                { ...one, at: now, channel: "console", reason: null },
                () => "reduced",
              );
              expect(now).toBeLessThan(100);
            } else {
              approval = consumed(before, one.call, now);
              used += 1;
              expect(now).toBeLessThan(100);
              expect(one.call).toBe(CALL);
              expect(before.state.kind).toBe("approved");
            }
          } catch (error) {
            if (!(error instanceof PortcullisError)) throw error;
          }
          expect(NEXT[before.state.kind]).toContain(approval.state.kind);
          expect(NEXT[approval.state.kind]).toContain(atTime(approval, now).state.kind);
          const { state } = approval;
          if (state.kind === "approved" || state.kind === "consumed") {
            expect(state.confirmations.length).toBe(neededConfirmations(grade));
            expect(state.digest).toBe(state.without.length === 0 ? "d" : "reduced");
            if (itemCount !== null) expect(state.without.length).toBeLessThan(itemCount);
          }
        }
        expect(used).toBeLessThanOrEqual(1);
      }),
      { numRuns: 3_000 },
    );
  });

  it("items: taking some out leaves the others in their order, and all the rest as it was", () => {
    const args = fc.record({
      ids: fc.array(fc.oneof(fc.integer(), fc.string()), { minLength: 1, maxLength: 20 }),
      other: fc.jsonValue(),
    });
    fc.assert(
      fc.property(args, fc.array(fc.nat(19)), (value, out) => {
        const given = { deep: value } as unknown as JsonObject;
        const copy = structuredClone(given);
        const left = withoutItems(given, "deep.ids", out) as { deep: { ids: unknown[]; other: unknown } };
        expect(given).toEqual(copy);
        expect(left.deep.other).toEqual(value.other);
        expect(left.deep.ids).toEqual(value.ids.filter((_one, index) => !out.includes(index)));
        expect(itemsAt(given, "deep.ids")).toHaveLength(value.ids.length);
      }),
    );
  });
});

describe("a sentence", () => {
  it("is one bounded line, whatever the arguments are", () => {
    const args = fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    const template = fc.option(
      fc
        .array(
          fc.oneof(
            fc.string(),
            fc.string().map((name) => `{${name}}`),
          ),
        )
        .map((parts) => parts.join("")),
      { nil: null },
    );
    fc.assert(
      fc.property(args, template, fc.string({ unit: "binary" }), (value, say, tool) => {
        const sentence = sentenceFor({
          server: "s",
          tool,
          arguments: value,
          say: say?.replaceAll(/[\r\n\u2028\u2029]/g, " ") ?? null,
          makeVisible: (text) => text,
        });
        expect(sentence).not.toMatch(/[\n\r\u2028\u2029]/);
        expect(sentence.length).toBeLessThanOrEqual(601);
      }),
      { numRuns: 3_000 },
    );
  });
});
