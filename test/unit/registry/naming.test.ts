import { describe, expect, it } from "vitest";
import { exposeName, isReservedName, splitName } from "../../../src/registry/naming.ts";

describe("exposed names", () => {
  it.each([
    ["github", "create_issue", "github__create_issue"],
    ["my-server", "get-it", "my-server__get-it"],
    ["github", "create_repository", "github__create_repository"],
    ["a", "b__c", "a__b__c"],
  ])("%s and %s: nothing to change [TOOL-17]", (server, tool, name) => {
    expect(exposeName(server, tool)).toBe(name);
    expect(splitName(name)).toEqual({ server, tool });
  });

  it.each([
    ["files", "天気", /^files__tool--[a-z2-7]{10}$/],
    ["files", "a b", /^files__a_b--[a-z2-7]{10}$/],
    ["files", " lead", /^files__lead--/],
    ["files", "cr\r\nInjected: 1", /^files__cr_Injected_1--/],
    ["files", "", /^files__tool--/],
    ["my.server", "x", /^my_server__x--/],
    ["3d", "x", /^x-3d__x--/],
    ["portcullis", "find_tools", /^x-portcullis__find_tools--/],
    ["Portcullis", "x", /^x-Portcullis__x--/],
    ["a__b", "c", /^a_b__c--/],
    ["a", "_b", /^a__b--/],
    ["a_", "b", /^a__b--/],
  ])("%j and %j: cleaned, with a hash [TOOL-20]", (server, tool, pattern) => {
    const name = exposeName(server, tool);
    expect(name).toMatch(pattern);
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(splitName(name)).toBeUndefined();
  });

  it("cuts what is too long, and keeps more of the tool than of the server", () => {
    const name = exposeName("s".repeat(60), `${"t".repeat(60)}_end`);
    expect(name).toHaveLength(64);
    expect(name).toMatch(/^s{17}__t{33}--[a-z2-7]{10}$/);
    expect(exposeName("github", "create_pull_request", 24)).toMatch(
      /^git[a-z]*__create[a-z_]*--[a-z2-7]{10}$/,
    );
    expect(exposeName("github", "create_pull_request", 24).length).toBeLessThanOrEqual(24);
  });

  it("tells apart what looks the same after cleaning, and cases", () => {
    const names = ["a b", "a_b", "a.b", "A_b"].map((tool) => exposeName("s", tool));
    expect(new Set(names).size).toBe(4);
  });

  it("gives a tool that looks hashed a hash of its own, so that nobody can take another's name", () => {
    const hashed = exposeName("s", "a b");
    const imitation = hashed.slice("s__".length);
    expect(exposeName("s", imitation)).not.toBe(hashed);
  });

  it("keeps `portcullis__` for itself, in any case of letters", () => {
    expect(isReservedName("portcullis__find_tools")).toBe(true);
    expect(isReservedName("PORTCULLIS__x")).toBe(true);
    expect(isReservedName("portcullis_x")).toBe(false);
    expect(splitName("portcullis__find_tools")).toBeUndefined();
  });
});
