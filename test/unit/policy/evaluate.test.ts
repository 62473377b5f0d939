import { describe, expect, it } from "vitest";
import { digestJson } from "../../../src/base/json.ts";
import type { ServerConfig } from "../../../src/config/compiled.ts";
import {
  evaluate,
  type GivenApproval,
  type GivenGrant,
  type PolicyInput,
} from "../../../src/policy/evaluate.ts";
import { EMPTY_FLOW } from "../../../src/policy/labels.ts";
import type { Finding, Grade } from "../../../src/vocabulary.ts";
import { serverConfig, toolRule } from "../../support/server-config.ts";

const NOW = 1_000_000;
const ARGUMENTS = { path: "/a" };
const TOXIC = { sawPrivate: "orders query", sawUntrusted: "github list_issues" };
const found: Finding = {
  rule: "provenance.value",
  severity: "low",
  where: "/path",
  message: "a path in it came out of `x y`",
};

function graded(
  grade: Grade,
  more: Partial<Parameters<typeof toolRule>[1]> = {},
  server: Partial<ServerConfig> = {},
): ServerConfig {
  return serverConfig({ tools: [toolRule("act", { grade, enabled: true, ...more })], ...server });
}

function input(server: ServerConfig, more: Partial<PolicyInput> = {}): PolicyInput {
  return {
    server,
    tool: { name: "act", annotations: undefined, wasPresentAtAcceptance: true },
    principal: "local",
    pin: "pin-1",
    arguments: ARGUMENTS,
    now: NOW,
    isPaused: false,
    flow: EMPTY_FLOW,
    provenance: [],
    guards: [],
    ...more,
  };
}

const binding = {
  principal: "local",
  server: "test",
  tool: "act",
  digest: digestJson(ARGUMENTS),
  pin: "pin-1",
};

function approval(more: Partial<GivenApproval> = {}): GivenApproval {
  return { id: "a", binding, confirmations: 1, expiresAt: NOW + 1, ...more };
}

function grant(more: Partial<GivenGrant> = {}): GivenGrant {
  return { id: "g", binding: { ...binding, digest: null }, expiresAt: NOW + 1, usesLeft: 1, ...more };
}

describe("a decision", () => {
  it.each([
    ["L0", "allow"],
    ["L1", "allow"],
    ["L2", "ask"],
    ["L3", "ask"],
    ["off", "deny"],
  ] as const)("%s: %s, with the grade's reason", (grade, decision) => {
    const answer = evaluate(input(graded(grade)));
    expect(answer).toMatchObject({ decision, grade, gradeFrom: 'mcpServers.test.tools["act"]' });
    expect(answer.reasons[0]?.rule).toBe("grade.exact");
    expect(answer.reasons.length).toBeGreaterThanOrEqual(2);
  });

  it("asks about an L1 tool that is set to ask", () => {
    expect(evaluate(input(graded("L1", { ask: true })))).toMatchObject({
      decision: "ask",
      needsPerson: false,
    });
  });

  it("calls only a tool with undo reversible", () => {
    const said = (undo: { tool: string; args: object } | null) =>
      evaluate(input(graded("L1", { undo: undo as null }))).reasons.at(-1)?.message;
    expect(said({ tool: "close", args: {} })).toBe("it can be taken back");
    expect(said(null)).not.toContain("back");
  });

  it.each([
    ["tool_off", graded("off"), {}],
    ["outside_rollout", graded("L0", {}, { rollout: { percent: 0, principals: [] } }), {}],
    ["server_paused", graded("L0"), { isPaused: true }],
    ["tool_not_enabled", graded("L3", { enabled: false }), {}],
    [
      "guard_denied",
      graded("L0"),
      { guards: [{ kind: "deny", guard: "sql", argument: "q", reason: "no", hasFailed: false }] },
    ],
    [
      "guard_failed",
      graded("L0"),
      { guards: [{ kind: "deny", guard: "sql", argument: "q", reason: "no", hasFailed: true }] },
    ],
    ["policy_denied", graded("L2"), { provenance: [found], onProvenance: "deny" }],
  ] as const)("denies with %s, whatever was approved", (code, server, more) => {
    const answer = evaluate(
      input(server, { ...more, approval: approval({ confirmations: 2 }), grant: grant() }),
    );
    expect(answer).toMatchObject({ decision: "deny", code });
    expect(answer.basis).toBeUndefined();
  });

  it("denies where a rule cannot be evaluated", () => {
    const bad = graded("L0", { when: [{ arguments: { path: { matches: "(" } }, grade: "L3" }] });
    expect(evaluate(input(bad, { approval: approval() }))).toMatchObject({
      decision: "deny",
      code: "policy_denied",
      reasons: [{ rule: "policy.failed" }],
    });
    const thrower = (): never => {
      throw new Error("broken");
    };
    expect(evaluate(input(graded("L1"), { provenance: thrower }))).toMatchObject({
      decision: "deny",
      code: "policy_denied",
    });
  });
});

describe("an approval", () => {
  it("allows exactly the call that it is for", () => {
    expect(evaluate(input(graded("L2"), { approval: approval() }))).toMatchObject({
      decision: "allow",
      basis: { kind: "approval", id: "a" },
    });
  });

  it.each([
    ["other arguments", { binding: { ...binding, digest: digestJson({ path: "/b" }) } }],
    ["another principal", { binding: { ...binding, principal: "mallory" } }],
    ["another tool", { binding: { ...binding, tool: "other" } }],
    ["another server", { binding: { ...binding, server: "other" } }],
    ["a changed definition", { binding: { ...binding, pin: "pin-2" } }],
    ["a time that is over", { expiresAt: NOW }],
    ["no confirmation", { confirmations: 0 }],
    ["a time that is none", { expiresAt: Number.NaN }],
  ])("for %s does not", (_what, more) => {
    const answer = evaluate(input(graded("L2"), { approval: approval(more) }));
    expect(answer.decision).toBe("ask");
    expect(answer.reasons.map(({ rule }) => rule)).toContain("approval.unfit");
  });

  it("of L3 needs two confirmations", () => {
    expect(evaluate(input(graded("L3"), { approval: approval() })).decision).toBe("ask");
    expect(evaluate(input(graded("L3"), { approval: approval({ confirmations: 2 }) })).decision).toBe(
      "allow",
    );
  });
});

describe("a grant", () => {
  it("answers for L2, with these arguments or any", () => {
    expect(evaluate(input(graded("L2"), { grant: grant() }))).toMatchObject({
      decision: "allow",
      basis: { kind: "grant", id: "g" },
    });
    expect(evaluate(input(graded("L2"), { grant: grant({ binding }) })).decision).toBe("allow");
    expect(
      evaluate(input(graded("L2"), { grant: grant({ binding: { ...binding, digest: "other" } }) })).decision,
    ).toBe("ask");
  });

  it.each([
    ["L3", graded("L3"), {}],
    ["a value from a tool", graded("L2"), { provenance: [found] }],
    ["private data that meets untrusted content", graded("L2"), { flow: TOXIC }],
    [
      "a suspicious definition",
      graded("L2"),
      { suspicions: [{ rule: "injection.override", severity: "high", where: "", message: "x" }] },
    ],
  ] as const)("does not answer for %s", (_what, server, more) => {
    const answer = evaluate(input(server, { ...more, grant: grant() }));
    expect(answer).toMatchObject({ decision: "ask", needsPerson: true });
    expect(answer.reasons.map(({ rule }) => rule)).toContain("grant.unfit");
  });

  it.each([
    ["another pin", { binding: { ...binding, digest: null, pin: "pin-2" } }],
    ["another principal", { binding: { ...binding, digest: null, principal: "mallory" } }],
    ["a time that is over", { expiresAt: NOW }],
    ["no use left", { usesLeft: 0 }],
  ])("with %s does not", (_what, more) => {
    expect(evaluate(input(graded("L2"), { grant: grant(more) })).decision).toBe("ask");
  });
});

describe("where values come from", () => {
  it("is a finding on L1 and a question on L2 that shows the source", () => {
    expect(evaluate(input(graded("L1"), { provenance: [found] }))).toMatchObject({
      decision: "allow",
      findings: [found],
    });
    const answer = evaluate(input(graded("L2"), { provenance: [found] }));
    expect(answer).toMatchObject({ decision: "ask", needsPerson: true, findings: [found] });
    expect(answer.reasons.map(({ message }) => message)).toContain(found.message);
  });

  it("is not looked up for a call that only reads", () => {
    let asked = 0;
    const provenance = (): readonly Finding[] => {
      asked += 1;
      return [found];
    };
    expect(evaluate(input(graded("L0"), { provenance })).findings).toEqual([]);
    expect(asked).toBe(0);
    evaluate(input(graded("L1"), { provenance }));
    expect(asked).toBe(1);
  });
});

describe("private data, then untrusted content, then a call that sends outward", () => {
  it.each([
    ["L1", [], [], "ask"],
    ["L1", ["internal"], [], "allow"],
    ["L1", [], ["internal"], "allow"],
    ["L1", ["external"], ["internal"], "ask"],
    ["L1", ["internal", "external"], [], "ask"],
    ["L0", [], [], "allow"],
    ["L0", ["external"], [], "ask"],
    ["L0", [], ["external"], "ask"],
    ["L2", ["internal"], [], "ask"],
  ] as const)("%s, tool %j, server %j: %s", (grade, labels, serverLabels, decision) => {
    const server = graded(grade, { labels }, { labels: serverLabels });
    expect(evaluate(input(server, { flow: TOXIC })).decision).toBe(decision);
    if (grade !== "L2") expect(evaluate(input(server)).decision).toBe("allow");
  });

  it("tells why, and a person may still allow it", () => {
    const answer = evaluate(input(graded("L1"), { flow: TOXIC }));
    expect(answer.findings).toMatchObject([{ rule: "flow.toxic", severity: "high" }]);
    expect(answer.findings[0]?.message).toContain("orders query");
    expect(answer.findings[0]?.message).toContain("github list_issues");
    expect(evaluate(input(graded("L1"), { flow: TOXIC, approval: approval() })).decision).toBe("allow");
  });

  it("one of the two is not enough", () => {
    expect(evaluate(input(graded("L1"), { flow: { ...TOXIC, sawPrivate: null } })).decision).toBe("allow");
    expect(evaluate(input(graded("L1"), { flow: { ...TOXIC, sawUntrusted: null } })).decision).toBe("allow");
  });
});
