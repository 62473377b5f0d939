import { describe, expect, it } from "vitest";
import { matchesPattern, policyOf } from "../../../src/policy/rules.ts";
import { serverConfig, toolRule } from "../../support/server-config.ts";

describe("a pattern", () => {
  it.each([
    ["read_*", "read_file", true],
    ["read_*", "read_", true],
    ["read_*", "bread_file", false],
    ["*_file", "read_file", true],
    ["*", "", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a**b", "ab", true],
    ["*ab*ab*", "abab", true],
    ["*ab*ab*", "aba", false],
    ["exact", "exact", true],
    ["exact", "exactly", false],
    ["a.c", "abc", false],
  ])("%s on %s: %s", (pattern, name, fits) => {
    expect(matchesPattern(pattern, name)).toBe(fits);
  });

  it("takes linear time", () => {
    expect(matchesPattern(`${"a*".repeat(2_000)}b`, "a".repeat(100_000))).toBe(false);
  });
});

describe("the rules of a tool together", () => {
  const present = { name: "read_file", annotations: undefined, wasPresentAtAcceptance: true };

  it("add up what protects and take what describes from the most specific", () => {
    const guard = { kind: "number", argument: "n", min: 0, max: 9 } as const;
    const server = serverConfig({
      tools: [
        toolRule("read_file", { say: "Read {path}", idempotent: true, timeoutMs: 5 }),
        toolRule("read_*", {
          guards: [guard],
          ask: true,
          say: "other",
          labels: ["private"],
          when: [{ arguments: {}, grade: "L2" }],
        }),
      ],
    });
    expect(policyOf(server, present)).toMatchObject({
      say: "Read {path}",
      ask: true,
      guards: [guard],
      labels: ["private"],
      when: [{ grade: "L2" }],
      idempotent: true,
      timeoutMs: 5,
      items: null,
    });
  });

  it("let a pattern loosen nothing for a tool that came later, or without a source", () => {
    const tools = [toolRule("read_*", { idempotent: true, labels: ["public", "external"] })];
    const later = { ...present, wasPresentAtAcceptance: false };
    expect(policyOf(serverConfig({ tools }), present)).toMatchObject({
      idempotent: true,
      labels: ["public", "external"],
    });
    expect(policyOf(serverConfig({ tools }), later)).toMatchObject({
      idempotent: false,
      labels: ["external"],
    });
    expect(policyOf(serverConfig({ tools, source: null }), present)).toMatchObject({
      idempotent: false,
      labels: ["external"],
    });
  });

  it("are remembered per configuration", () => {
    const server = serverConfig({ tools: [toolRule("x")] });
    expect(policyOf(server, present)).toBe(policyOf(server, { ...present }));
    expect(policyOf(serverConfig({ tools: [toolRule("x")] }), present)).not.toBe(policyOf(server, present));
  });
});
