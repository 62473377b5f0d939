import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestJson, type JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/compiled.ts";
import { evaluate, type PolicyInput } from "../../src/policy/evaluate.ts";
import { gradeOf } from "../../src/policy/grades.ts";
import { GRADES, higherGrade, type Finding, type Grade } from "../../src/vocabulary.ts";
import { serverConfig, toolRule } from "../support/server-config.ts";

const grade = fc.constantFrom<Grade>(...GRADES);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const finding: fc.Arbitrary<Finding> = fc.record({
  rule: fc.constant("provenance.value"),
  severity: fc.constantFrom("note" as const, "low" as const, "high" as const),
  where: fc.constant("/a"),
  message: fc.string(),
});

const label = fc.constantFrom("private", "untrusted", "external", "public", "trusted", "internal");
const rule = fc
  .record({
    pattern: fc.constantFrom("act", "a*", "*", "other"),
    grade: maybe(grade),
    enabled: fc.boolean(),
    ask: fc.boolean(),
    labels: fc.array(label, { maxLength: 2 }),
    when: fc.array(
      fc.record({
        arguments: fc.constantFrom(
          { a: { isPresent: true } },
          { a: { matches: "(" } },
          { a: { above: 5 } },
          { b: { equals: "x" } },
        ),
        grade,
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ pattern, ...more }) => toolRule(pattern, more as object));

const server: fc.Arbitrary<ServerConfig> = fc
  .record({
    tools: fc.array(rule, { maxLength: 3 }),
    source: maybe(fc.constant("official" as const)),
    defaultGrade: grade,
    labels: fc.array(label, { maxLength: 2 }),
    rollout: maybe(
      fc.record({ percent: fc.integer({ min: 0, max: 100 }), principals: fc.array(fc.constant("local")) }),
    ),
  })
  .map((more) => serverConfig(more as Partial<ServerConfig>));

const annotations = fc.oneof(
  fc.constant(undefined),
  fc.record({ readOnlyHint: fc.anything(), destructiveHint: fc.anything() }, { requiredKeys: [] }),
  fc.anything(),
);
const args = fc.dictionary(
  fc.constantFrom("a", "b", "__proto__"),
  fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
) as fc.Arbitrary<JsonObject>;
const tool = fc.record({ name: fc.constant("act"), annotations, wasPresentAtAcceptance: fc.boolean() });

/** Mostly the harmless one, so that there is something to be allowed at all. */
function mostly<T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

/** Bindings near the call: half of them fit it. */
const binding = (digest: string) =>
  fc.oneof(
    fc.constant({ principal: "local", server: "test", tool: "act", digest, pin: "pin" }),
    nearBinding(digest),
  );

const nearBinding = (digest: string) =>
  fc.record({
    principal: fc.constantFrom("local", "mallory"),
    server: fc.constantFrom("test", "other"),
    tool: fc.constantFrom("act", "other"),
    digest: fc.constantFrom(digest, "0"),
    pin: fc.constantFrom("pin", "pin-2"),
  });

const input: fc.Arbitrary<PolicyInput> = args.chain((callArguments) => {
  const digest = digestJson(callArguments);
  return fc.record(
    {
      server,
      tool,
      principal: fc.constant("local"),
      pin: fc.constant("pin"),
      arguments: fc.constant(callArguments),
      now: fc.constant(1_000),
      isPaused: mostly(false, fc.boolean()),
      flow: fc.record({ sawPrivate: maybe(fc.constant("x")), sawUntrusted: maybe(fc.constant("y")) }),
      provenance: mostly<PolicyInput["provenance"]>(
        [],
        fc.oneof(
          fc.array(finding, { maxLength: 2 }),
          fc.constant((): never => {
            throw new Error("broken");
          }),
        ),
      ),
      onProvenance: fc.constantFrom("ask" as const, "deny" as const),
      guards: mostly<PolicyInput["guards"]>(
        [],
        fc.array(
          fc.constantFrom(
            { kind: "allow", guard: "sql", argument: "a" } as const,
            { kind: "deny", guard: "sql", argument: "a", reason: "no", hasFailed: false } as const,
            { kind: "deny", guard: "sql", argument: "a", reason: "no", hasFailed: true } as const,
          ),
          { maxLength: 2 },
        ),
      ),
      suspicions: fc.array(finding, { maxLength: 1 }),
      approval: fc.record({
        id: fc.constant("a"),
        binding: binding(digest),
        confirmations: mostly(2, fc.constantFrom(0, 1, Number.NaN)),
        expiresAt: mostly(1_001, fc.constantFrom(999, 1_000, Number.NaN)),
      }),
      grant: fc.record({
        id: fc.constant("g"),
        binding: fc.oneof(
          binding(digest),
          binding(digest).map((one) => ({ ...one, digest: null })),
        ),
        expiresAt: mostly(1_001, fc.constantFrom(999, 1_000, Number.NaN)),
        usesLeft: mostly(1, fc.constantFrom(0, Number.NaN)),
      }),
    },
    {
      requiredKeys: [
        "server",
        "tool",
        "principal",
        "pin",
        "arguments",
        "now",
        "isPaused",
        "flow",
        "provenance",
        "guards",
      ],
    },
  ) as fc.Arbitrary<PolicyInput>;
});

const RUNS = { numRuns: 2_000 };

function fits(
  one: { principal: string; server: string; tool: string; digest: string | null; pin: string },
  call: PolicyInput,
): boolean {
  const digest = one.digest ?? digestJson(call.arguments);
  return (
    one.principal === "local" &&
    one.server === "test" &&
    one.tool === "act" &&
    one.pin === "pin" &&
    digest === digestJson(call.arguments)
  );
}

describe("evaluate", () => {
  it("allows L2 and L3 only on an approval or a grant that covers exactly this call", () => {
    const allowed = { approval: 0, grant: 0 };
    fc.assert(
      fc.property(input, (call) => {
        const decision = evaluate(call);
        if (decision.decision !== "allow") return;
        expect(decision.grade).not.toBe("off");
        if (decision.grade === "L0" || decision.grade === "L1") return;
        const { approval, grant } = call;
        if (decision.basis !== undefined) allowed[decision.basis.kind] += 1;
        if (decision.basis?.kind === "approval") {
          expect(approval !== undefined && fits(approval.binding, call)).toBe(true);
          expect(approval?.expiresAt).toBeGreaterThan(call.now);
          expect(approval?.confirmations).toBeGreaterThanOrEqual(decision.grade === "L3" ? 2 : 1);
          return;
        }
        expect(decision.basis?.kind).toBe("grant");
        expect(grant !== undefined && fits(grant.binding, call)).toBe(true);
        expect(grant?.expiresAt).toBeGreaterThan(call.now);
        expect(grant?.usesLeft).toBeGreaterThan(0);
        expect(decision.grade).toBe("L2");
        expect(decision.needsPerson).toBe(false);
        expect(call.provenance).toEqual([]);
      }),
      { numRuns: 10_000 },
    );
    // The property would hold of a policy that allows nothing.
    expect(allowed.approval).toBeGreaterThan(50);
    expect(allowed.grant).toBeGreaterThan(10);
  });

  it("never throws, always gives a reason, and a code exactly where it denies", () => {
    fc.assert(
      fc.property(input, (call) => {
        const decision = evaluate(call);
        expect(decision.reasons.length).toBeGreaterThan(0);
        expect(decision.code !== undefined).toBe(decision.decision === "deny");
      }),
      RUNS,
    );
  });

  it("denies what is off, paused, outside the rollout, or stopped by a guard, whatever else is given", () => {
    fc.assert(
      fc.property(input, (call) => {
        const isStopped = call.isPaused || call.guards.some(({ kind }) => kind === "deny");
        if (isStopped) expect(evaluate(call).decision).toBe("deny");
        if (call.server.rollout?.percent === 0 && call.server.rollout.principals.length === 0)
          expect(evaluate(call).decision).toBe("deny");
      }),
      RUNS,
    );
  });

  it("is the same answer for the same input", () => {
    fc.assert(
      fc.property(input, (call) => {
        expect(evaluate(call)).toEqual(evaluate(structuredCloneOf(call)));
      }),
      { numRuns: 500 },
    );
  });
});

/** Functions cannot be cloned; all the rest is copied, so that nothing is told by identity. */
function structuredCloneOf(call: PolicyInput): PolicyInput {
  const { provenance, tool: facts, ...rest } = call;
  return { ...structuredClone(rest), tool: facts, provenance };
}

describe("a grade", () => {
  const withoutThrow = (run: () => Grade): Grade | undefined => {
    try {
      return run();
    } catch {
      return undefined;
    }
  };

  it("is never lowered by anything that the server says, nor by arguments", () => {
    fc.assert(
      fc.property(server, tool, args, (config, facts, callArguments) => {
        const silent = gradeOf(config, { ...facts, annotations: undefined }).grade;
        const told = gradeOf(config, facts).grade;
        expect(higherGrade(silent, told)).toBe(told);
        const called = withoutThrow(() => gradeOf(config, facts, callArguments).grade);
        if (called !== undefined) expect(higherGrade(told, called)).toBe(called);
      }),
      RUNS,
    );
  });

  it("below L2 comes from an exact name, or the server has a source and the tool was there", () => {
    fc.assert(
      fc.property(server, tool, (config, facts) => {
        const verdict = gradeOf(config, facts);
        if (verdict.grade !== "L0" && verdict.grade !== "L1") return;
        const isExact = config.tools.some((one) => one.isExact && one.path === verdict.from);
        expect(isExact || (config.source !== null && facts.wasPresentAtAcceptance)).toBe(true);
      }),
      RUNS,
    );
  });
});
