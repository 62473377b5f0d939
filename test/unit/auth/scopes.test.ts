import { describe, expect, it } from "vitest";
import { chooseScopes, coversScopes, type ScopeFacts } from "../../../src/auth/scopes.ts";

const facts: ScopeFacts = {
  configured: [],
  challenged: null,
  supported: null,
  offered: null,
  previous: [],
  isStepUp: false,
  wantsRefresh: true,
};

describe("chooseScopes", () => {
  it.each<[string, Partial<ScopeFacts>, readonly string[]]>([
    ["nothing is known: left out [AUTH-52]", {}, []],
    ["all that the resource supports [AUTH-52]", { supported: ["a", "b"] }, ["a", "b"]],
    [
      "the challenge before what is supported [AUTH-51, AUTH-52]",
      { challenged: ["c"], supported: ["a", "b"] },
      ["c"],
    ],
    [
      "the operator's before either [AUTH-53]",
      { configured: ["o"], challenged: ["c"], supported: ["a"] },
      ["o"],
    ],
    [
      "no relation is assumed between them [AUTH-50]",
      { challenged: ["x"], supported: ["a"], offered: ["b"] },
      ["x"],
    ],
    [
      "a step-up asks for the union [AUTH-54, SEC-21]",
      { previous: ["a", "b"], challenged: ["c", "a"], isStepUp: true },
      ["a", "b", "c"],
    ],
    [
      "a step-up goes beyond the operator's",
      { configured: ["o"], challenged: ["c"], isStepUp: true },
      ["o", "c"],
    ],
    ["previous ones do not count without a step-up", { previous: ["x"], challenged: ["c"] }, ["c"]],
    [
      "offline_access where it is offered [AUTH-64]",
      { supported: ["a"], offered: ["a", "offline_access"] },
      ["a", "offline_access"],
    ],
    ["not where it is not [AUTH-64]", { supported: ["a", "offline_access"], offered: ["a"] }, ["a"]],
    ["not where nothing is said [AUTH-64]", { supported: ["a", "offline_access"] }, ["a"]],
    ["never alone: it would take the place of the defaults", { offered: ["offline_access"] }, []],
    ["not for a machine", { supported: ["a"], offered: ["offline_access"], wantsRefresh: false }, ["a"]],
  ])("%s", (_name, more, expected) => {
    expect(chooseScopes({ ...facts, ...more })).toEqual(expected);
  });
});

describe("coversScopes", () => {
  it.each([
    [["a", "b"], ["b"], true],
    [["a"], ["a", "b"], false],
    [[], [], true],
  ])("%j holds %j: %s", (granted, wanted, expected) => {
    expect(coversScopes(granted, wanted)).toBe(expected);
  });
});
