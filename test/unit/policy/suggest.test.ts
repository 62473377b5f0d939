import { describe, expect, it } from "vitest";
import { suggestGrades } from "../../../src/policy/suggest.ts";

function suggest(name: string, properties: readonly string[] = [], annotations?: unknown) {
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(properties.map((one) => [one, { type: "string" }])),
  };
  return suggestGrades([{ name, annotations, inputSchema }])[0];
}

describe("a proposal for a new tool", () => {
  it.each([
    ["read_file", [], "L0"],
    ["searchIssues", [], "L0"],
    ["list-deleted-files", [], "L0"],
    ["issue_read", [], "L0"],
    ["get_order", [], "L0"],
    ["create_issue", [], "L2"],
    ["update_record", [], "L2"],
    ["send_email", ["to", "body"], "L2"],
    ["query", ["sql"], "L2"],
    ["fetch", ["url"], "L0"],
    ["delete_repository", [], "L3"],
    ["repo.delete", [], "L3"],
    ["read_and_delete", [], "L3"],
    ["execute_command", ["command"], "L3"],
    ["transfer", ["amount", "iban"], "L3"],
    ["quote", ["amount"], "L3"],
    ["frobnicate", [], "L2"],
    ["", [], "L2"],
  ] as const)("%s(%j): %s, with a reason", (name, properties, grade) => {
    const suggestion = suggest(name, properties);
    expect(suggestion).toMatchObject({ name, grade });
    expect(suggestion?.reasons.length).toBeGreaterThan(0);
  });

  it("is L1 where another tool takes it back", () => {
    const tools = ["create_issue", "close_issue", "star_repo", "unstar_repo", "add_label"].map((name) => ({
      name,
      annotations: undefined,
      inputSchema: {},
    }));
    expect(suggestGrades(tools).map(({ grade, undo }) => [grade, undo])).toEqual([
      ["L1", "close_issue"],
      ["L2", null],
      ["L1", "unstar_repo"],
      ["L2", null],
      ["L2", null],
    ]);
  });

  it("is raised by what the server says, never lowered", () => {
    expect(suggest("read_file", [], { destructiveHint: true })?.grade).toBe("L2");
    expect(suggest("delete_all", [], { readOnlyHint: true, destructiveHint: false })?.grade).toBe("L3");
    expect(suggest("frobnicate", [], { readOnlyHint: true })).toMatchObject({ grade: "L2" });
  });

  it("marks what takes an address as sending outward", () => {
    expect(suggest("fetch", ["url"])?.labels).toEqual(["external"]);
  });

  it("stands names and schemas of any kind", () => {
    expect(
      suggestGrades([{ name: "\u202e\0".repeat(1_000), annotations: 5, inputSchema: "x" }])[0]?.grade,
    ).toBe("L2");
    expect(
      suggestGrades([{ name: "constructor", annotations: undefined, inputSchema: { properties: null } }])[0]
        ?.grade,
    ).toBe("L2");
  });
});
