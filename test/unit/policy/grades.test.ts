import { describe, expect, it } from "vitest";
import type { ServerConfig, ToolRule } from "../../../src/config/compiled.ts";
import { gradeOf } from "../../../src/policy/grades.ts";
import type { ToolFacts } from "../../../src/policy/rules.ts";
import { serverConfig, toolRule } from "../../support/server-config.ts";

function tool(name: string, more: Partial<ToolFacts> = {}): ToolFacts {
  return { name, annotations: undefined, wasPresentAtAcceptance: true, ...more };
}

function server(tools: readonly ToolRule[], more: Partial<ServerConfig> = {}): ServerConfig {
  return serverConfig({ tools, ...more });
}

describe("where a grade comes from", () => {
  it("is L2 by default, and says so", () => {
    expect(gradeOf(server([]), tool("anything"))).toMatchObject({
      grade: "L2",
      from: "default",
      reasons: [{ rule: "grade.default" }],
    });
  });

  it("an exact name beats a pattern, whatever their order", () => {
    const rules = [toolRule("read_secret", { grade: "L3" }), toolRule("read_*", { grade: "L0" })];
    expect(gradeOf(server(rules), tool("read_secret"))).toMatchObject({ grade: "L3", from: rules[0]?.path });
    expect(gradeOf(server(rules), tool("read_file"))).toMatchObject({ grade: "L0", from: rules[1]?.path });
  });

  it("a rule without a grade leaves it to the next one", () => {
    const rules = [toolRule("read_file", { say: "Read {path}" }), toolRule("read_*", { grade: "L0" })];
    expect(gradeOf(server(rules), tool("read_file"))).toMatchObject({ grade: "L0" });
  });

  it("`off` and a higher default hold", () => {
    expect(gradeOf(server([toolRule("x", { grade: "off" })]), tool("x")).grade).toBe("off");
    expect(gradeOf(server([], { defaultGrade: "L3" }), tool("x")).grade).toBe("L3");
  });
});

describe("a pattern below L2", () => {
  const rules = [toolRule("read_*", { grade: "L0" }), toolRule("*", { grade: "L3", enabled: true })];

  it("does not count without a source", () => {
    expect(gradeOf(server(rules, { source: null }), tool("read_a"))).toMatchObject({
      grade: "L3",
      reasons: [{ rule: "grade.pattern-ignored" }, { rule: "grade.pattern" }],
    });
  });

  it("does not count for a tool that came later", () => {
    expect(
      gradeOf(server([rules[0] as ToolRule]), tool("read_a", { wasPresentAtAcceptance: false })),
    ).toMatchObject({
      grade: "L2",
      from: "default",
      reasons: [{ rule: "grade.pattern-ignored" }, { rule: "grade.default" }],
    });
  });

  it("and neither does a low default, while an exact name does", () => {
    const low = { defaultGrade: "L0", source: null } as const;
    expect(gradeOf(server([], low), tool("x")).grade).toBe("L2");
    expect(
      gradeOf(server([toolRule("x", { grade: "L0" })], low), tool("x", { wasPresentAtAcceptance: false }))
        .grade,
    ).toBe("L0");
  });
});

describe("what a server says [TOOL-05, TOOL-06]", () => {
  const exact = server([toolRule("x", { grade: "L0" })]);
  it.each([
    ["nothing", undefined, "L0"],
    ["read-only", { readOnlyHint: true }, "L0"],
    ["that it writes", { readOnlyHint: false }, "L1"],
    ["that it destroys", { destructiveHint: true }, "L2"],
    ["that it writes and does not destroy", { readOnlyHint: false, destructiveHint: false }, "L1"],
    ["read-only and destructive at once", { readOnlyHint: true, destructiveHint: true }, "L2"],
    ["a text for a boolean", { readOnlyHint: "true", destructiveHint: "false" }, "L2"],
    ["a number for a boolean", { idempotentHint: 1 }, "L2"],
    ["null for a boolean", { openWorldHint: null }, "L2"],
    ["a list", [], "L2"],
    ["a text", "safe", "L2"],
    ["something unknown only", { title: "x", certified: true }, "L0"],
  ])("%s: L0 becomes %3$s", (_what, annotations, grade) => {
    expect(gradeOf(exact, tool("x", { annotations })).grade).toBe(grade);
  });

  it("never lowers a grade", () => {
    const claims = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    for (const grade of ["L1", "L2", "L3", "off"] as const) {
      expect(gradeOf(server([toolRule("x", { grade })]), tool("x", { annotations: claims })).grade).toBe(
        grade,
      );
    }
    expect(gradeOf(server([]), tool("delete_all", { annotations: claims })).grade).toBe("L2");
  });

  it("is shown with the defaults of the specification [TOOL-07]", () => {
    expect(gradeOf(server([]), tool("x")).claim).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: false,
      openWorld: true,
      isStated: false,
      faults: [],
    });
    expect(gradeOf(server([]), tool("x", { annotations: { readOnlyHint: true } })).claim).toMatchObject({
      readOnly: true,
      destructive: false,
    });
  });

  it("own properties only", () => {
    const annotations = JSON.parse(
      '{"__proto__": {"readOnlyHint": true, "destructiveHint": true}}',
    ) as unknown;
    expect(gradeOf(exact, tool("x", { annotations })).grade).toBe("L0");
  });
});

describe("conditions on arguments", () => {
  const raise = (test: object, grade: "L0" | "L3" | "off" = "L3") =>
    server([toolRule("x", { grade: "L1", enabled: true, when: [{ arguments: { "a.b": test }, grade }] })]);

  it.each([
    ["equals", { equals: 5 }, { a: { b: 5 } }, true],
    ["equals another", { equals: 5 }, { a: { b: 6 } }, false],
    ["equals, as a text", { equals: 5 }, { a: { b: "5" } }, true],
    ["equals an object", { equals: { x: 1, y: 2 } }, { a: { b: { y: 2, x: 1 } } }, true],
    ["equals, missing", { equals: 5 }, {}, false],
    ["matches", { matches: "^DROP" }, { a: { b: "DROP TABLE" } }, true],
    ["matches not", { matches: "^DROP" }, { a: { b: "SELECT" } }, false],
    ["matches, an object cannot be judged", { matches: "^DROP" }, { a: { b: {} } }, true],
    ["notMatches", { notMatches: "@own\\.example$" }, { a: { b: "x@evil.example" } }, true],
    ["notMatches, own", { notMatches: "@own\\.example$" }, { a: { b: "x@own.example" } }, false],
    [
      "notMatches, one of a list",
      { notMatches: "@own\\.example$" },
      { a: { b: ["x@own.example", "y@evil.example"] } },
      true,
    ],
    [
      "notMatches, through a list",
      { notMatches: "@own\\.example$" },
      { a: [{ b: "x@own.example" }, { b: "y@evil.example" }] },
      true,
    ],
    ["notMatches, missing", { notMatches: "x" }, {}, true],
    ["above", { above: 100 }, { a: { b: 101 } }, true],
    ["above, as a text", { above: 100 }, { a: { b: "101" } }, true],
    ["above, equal", { above: 100 }, { a: { b: 100 } }, false],
    ["above, cannot be judged", { above: 100 }, { a: { b: "much" } }, true],
    ["below", { below: 0 }, { a: { b: -1 } }, true],
    ["isPresent", { isPresent: true }, { a: { b: null } }, true],
    ["isPresent, missing", { isPresent: true }, { a: {} }, false],
    ["is not present", { isPresent: false }, { a: {} }, true],
    ["a name with the dot in it", { equals: 1 }, { "a.b": 1 }, true],
    ["two tests, both needed", { above: 1, below: 5 }, { a: { b: 7 } }, false],
  ])("%s", (_what, test, args, isMet) => {
    expect(gradeOf(raise(test), tool("x"), args).grade).toBe(isMet ? "L3" : "L1");
  });

  it("only raise, and may turn a call off", () => {
    expect(gradeOf(raise({ isPresent: false }, "L0"), tool("x"), {}).grade).toBe("L1");
    expect(gradeOf(raise({ isPresent: false }, "off"), tool("x"), {}).grade).toBe("off");
  });

  it("are left out of a listing", () => {
    expect(gradeOf(raise({ isPresent: false }), tool("x")).grade).toBe("L1");
  });

  it("do not look at what is inherited", () => {
    expect(
      gradeOf(
        server([
          toolRule("x", {
            grade: "L1",
            when: [{ arguments: { constructor: { isPresent: true } }, grade: "L3" }],
          }),
        ]),
        tool("x"),
        {},
      ).grade,
    ).toBe("L1");
  });

  it("throw for a pattern that is none, and for a list without end", () => {
    expect(() => gradeOf(raise({ matches: "(" }), tool("x"), { a: { b: "x" } })).toThrow(RangeError);
    expect(() =>
      gradeOf(raise({ matches: "x" }), tool("x"), { a: { b: Array.from({ length: 5_000 }, () => "y") } }),
    ).toThrow(RangeError);
  });
});

describe("L3", () => {
  it("is enabled by its own rule only", () => {
    expect(gradeOf(server([toolRule("x", { grade: "L3" })]), tool("x")).isEnabled).toBe(false);
    expect(gradeOf(server([toolRule("x", { grade: "L3", enabled: true })]), tool("x")).isEnabled).toBe(true);
    const rules = [toolRule("pay", { grade: "L3" }), toolRule("*", { grade: "L3", enabled: true })];
    expect(gradeOf(server(rules), tool("pay")).isEnabled).toBe(false);
    expect(gradeOf(server(rules), tool("other")).isEnabled).toBe(true);
    expect(gradeOf(server(rules), tool("other", { wasPresentAtAcceptance: false })).isEnabled).toBe(false);
  });
});
