import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { foldCall, type CallActivity } from "../../../src/audit/fold.ts";
import type { StoredRecord } from "../../../src/store/store.ts";

type Mark = readonly [kind: string, facts?: JsonObject, writer?: string];

function toRecords(marks: readonly Mark[]): StoredRecord[] {
  return marks.map(([kind, facts = {}, writer = "own"], at) => ({
    callId: "c",
    kind,
    at: 1_000 + at,
    body: { principal: "ann", server: "github", tool: "merge", ...facts },
    writer,
    sequence: at + 1,
    previousHash: "",
    hash: "",
  }));
}

const fold = (marks: readonly Mark[], isLiving = false): CallActivity | undefined =>
  foldCall(toRecords(marks), () => isLiving);

const opened = (grade: string | null): Mark => [
  "opened",
  { grade, arguments: { n: 1 }, argumentsDigest: "d" },
];
const closed = (outcome: string, effect: string, code: string | null = null, writer = "own"): Mark => [
  "closed",
  { outcome, effect, code, durationMs: 7, attempts: 1 },
  writer,
];
const timedOut = closed("timed_out", "unknown", "timed_out");

describe("folding a call of a process that is gone", () => {
  it.each<[string, readonly Mark[], Partial<CallActivity>]>([
    ["opened only", [opened("L2")], { outcome: "refused", effect: "none", code: "interrupted" }],
    ["decided", [opened("L2"), ["decided", { grade: "L2" }]], { outcome: "refused", effect: "none" }],
    [
      "dispatched",
      [opened("L1"), ["dispatched"]],
      { outcome: "cancelled", effect: "unknown", code: "interrupted" },
    ],
    ["dispatched, reading", [opened("L0"), ["dispatched"]], { outcome: "cancelled", effect: "none" }],
    ["dispatched, of no known grade", [opened(null), ["dispatched"]], { effect: "unknown" }],
    [
      "raised by the decision",
      [opened("L0"), ["decided", { grade: "L2" }], ["dispatched"]],
      { grade: "L2", effect: "unknown" },
    ],
    [
      "not lowered by a decision",
      [opened("L3"), ["decided", { grade: "L0" }], ["dispatched"]],
      { grade: "L3", effect: "unknown" },
    ],
    [
      "tried twice",
      [opened("L2"), ["dispatched"], ["attempt"], ["attempt"]],
      { attempts: 2, effect: "unknown" },
    ],
    [
      "late before it was closed",
      [opened("L2"), ["dispatched"], ["late", { outcome: "completed" }]],
      { effect: "applied" },
    ],
  ])("%s", (_what, marks, expected) =>
    expect(fold(marks)).toMatchObject({ state: "interrupted", ...expected }),
  );
});

describe("folding a call that was closed", () => {
  it.each<[string, readonly Mark[], Partial<CallActivity>]>([
    [
      "completed",
      [opened("L2"), ["dispatched"], closed("completed", "applied")],
      { outcome: "completed", effect: "applied", durationMs: 7 },
    ],
    [
      "refused",
      [opened("L2"), closed("refused", "none", "approval_denied")],
      { outcome: "refused", code: "approval_denied", effect: "none" },
    ],
    [
      "proven not run",
      [opened("L2"), ["dispatched"], closed("invalid_arguments", "none")],
      { effect: "none" },
    ],
    [
      "timed out",
      [opened("L2"), ["dispatched"], timedOut],
      { outcome: "timed_out", effect: "unknown", isLate: false },
    ],
    [
      "answered late",
      [opened("L2"), ["dispatched"], timedOut, ["late", { outcome: "completed" }]],
      { outcome: "timed_out", effect: "applied", isLate: true },
    ],
    [
      "failed late",
      [opened("L2"), ["dispatched"], timedOut, ["late", { outcome: "tool_error" }]],
      { effect: "unknown", isLate: false },
    ],
    [
      "reading, answered late",
      [opened("L0"), ["dispatched"], timedOut, ["late", { outcome: "completed" }]],
      { effect: "none" },
    ],
    [
      "twice: its own process knows",
      [
        opened("L2"),
        ["dispatched"],
        closed("cancelled", "unknown", "interrupted", "other"),
        closed("completed", "applied"),
      ],
      { outcome: "completed", effect: "applied" },
    ],
    [
      "by another process",
      [
        opened("L2"),
        ["dispatched"],
        [
          "closed",
          { outcome: "cancelled", effect: "unknown", code: "interrupted", recovered: true },
          "other",
        ],
      ],
      { state: "interrupted", effect: "unknown", writer: "own" },
    ],
    [
      "with damage",
      [opened("L2"), ["dispatched"], ["closed", { outcome: "nonsense", effect: 5, code: "x" }]],
      { outcome: null, effect: "unknown", code: null },
    ],
  ])("%s", (_what, marks, expected) => expect(fold(marks)).toMatchObject({ state: "closed", ...expected }));

  it("takes a call in one record like one in many", () => {
    const facts = { outcome: "completed", effect: "none", code: null, durationMs: 3, attempts: 1 };
    const decided = { decision: "allow", grade: "L0", approvedBy: "ann" };
    const one = fold([
      [
        "call",
        {
          grade: "L0",
          arguments: { n: 1 },
          argumentsDigest: "d",
          dispatchedAt: 1_002,
          decided,
          closed: facts,
        },
      ],
    ]);
    const many = fold([
      opened("L0"),
      ["decided", decided],
      ["dispatched", { grade: "L0" }],
      ["closed", facts],
    ]);
    // When a call in one record was decided is not kept beside when it was opened.
    const untimed = (call: typeof one) => ({
      ...call,
      decisions: call?.decisions.map(({ decision, grade }) => [decision, grade]),
    });
    expect(untimed(one)).toEqual(untimed(many));
    expect(one?.approvedBy).toBe("ann");
  });
});

describe("folding a call of a living process", () => {
  it("tells that it runs, and what it may have done so far", () => {
    expect(fold([opened("L2")], true)).toMatchObject({
      state: "running",
      outcome: null,
      effect: "none",
      durationMs: null,
    });
    expect(fold([opened("L2"), ["dispatched"]], true)).toMatchObject({
      state: "running",
      outcome: null,
      effect: "unknown",
    });
  });

  it("knows who approved, until when it can be undone, and what was asked", () => {
    const decisions: Mark[] = [
      ["decided", { decision: "ask", grade: "L2" }],
      ["decided", { decision: "allow", grade: "L2", approvedBy: "ann" }],
    ];
    const end: Mark = [
      "closed",
      { outcome: "completed", effect: "applied", code: null, durationMs: 1, attempts: 1, undoUntil: 9_000 },
    ];
    expect(fold([opened("L2"), ...decisions, ["dispatched"], end], true)).toMatchObject({
      approvedBy: "ann",
      undoUntil: 9_000,
      arguments: { n: 1 },
      argumentsDigest: "d",
      principal: "ann",
      at: 1_000,
      dispatchedAt: 1_003,
    });
  });

  it("tells every decision in order, with what people said, and passes over what is damaged", () => {
    const yes = { by: "ann", channel: "console", at: 900 };
    const decisions: Mark[] = [
      [
        "decided",
        {
          decision: "ask",
          grade: "L3",
          gradeFrom: "default",
          reasons: [{ rule: "ask.L3", message: "m" }],
          findings: [{ rule: "flow.toxic" }],
        },
      ],
      [
        "decided",
        {
          decision: "allow",
          basis: { kind: "approval", id: "a1" },
          answers: [yes, { ...yes, by: "bob" }, 7],
        },
      ],
      ["decided", { decision: "allow", approvedBy: "ann", channel: "terminal" }],
      ["decided", { decision: "perhaps" }],
    ];
    const call = fold([opened("L3"), ...decisions], true);
    expect(call?.decisions).toMatchObject([
      {
        decision: "ask",
        grade: "L3",
        gradeFrom: "default",
        reasons: [{ rule: "ask.L3", message: "m" }],
        findings: [{ rule: "flow.toxic", message: "", where: "" }],
        basis: null,
        answers: [],
      },
      { basis: { kind: "approval", id: "a1" }, answers: [yes, { ...yes, by: "bob" }] },
      { answers: [{ by: "ann", channel: "terminal", at: 1_003 }] },
    ]);
  });

  it("is nothing without its opening", () => expect(fold([["dispatched"], timedOut])).toBeUndefined());
});
