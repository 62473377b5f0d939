import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { isUndoOpen, offerUndo } from "../../../src/approvals/undo.ts";

function offer(args: JsonObject, result: unknown, sent: JsonObject = { owner: "acme", list: [{ id: 7 }] }) {
  return offerUndo({
    undo: { tool: "close_issue", args },
    from: "github create_issue",
    arguments: sent,
    result,
    at: 1_000,
  });
}

describe("what could take a call back", () => {
  it("is made of the rule, the arguments and the result, with their types", () => {
    expect(
      offer(
        {
          owner: "$arguments.owner",
          first: "$arguments.list.0.id",
          number: "$result.number",
          deep: [{ x: "$result.author.name" }],
          fixed: true,
          price: "$$5",
        },
        { structuredContent: { number: 412, author: { name: "ann" } } },
      ),
    ).toEqual({
      kind: "offered",
      offer: {
        tool: "close_issue",
        arguments: { owner: "acme", first: 7, number: 412, deep: [{ x: "ann" }], fixed: true, price: "$5" },
        until: 31_000,
        origins: [
          { where: "/number", message: "taken from the result of `github create_issue`" },
          { where: "/deep/0/x", message: "taken from the result of `github create_issue`" },
        ],
      },
    });
  });

  it("reads a result that is JSON in its first text", () => {
    expect(
      offer(
        { n: "$result.number" },
        { content: [{ type: "image" }, { type: "text", text: '{"number": 5}' }] },
      ),
    ).toMatchObject({
      offer: { arguments: { n: 5 } },
    });
  });

  it.each([
    ["a value that is missing in the result", { n: "$result.number" }, { structuredContent: {} }],
    [
      "a result that is plain text",
      { n: "$result.number" },
      { content: [{ type: "text", text: "done, number 5" }] },
    ],
    ["no result", { n: "$result.number" }, undefined],
    ["an argument that was not given", { n: "$arguments.missing" }, {}],
    ["what is inherited", { n: "$result.constructor.name" }, { structuredContent: {} }],
  ])("is not offered for %s", (_what, args, result) => {
    expect(offer(args, result).kind).toBe("none");
  });

  it("is not offered without a rule", () => {
    expect(offerUndo({ undo: null, from: "x", arguments: {}, result: {}, at: 0 })).toMatchObject({
      kind: "none",
    });
  });

  it("leaves text that only looks like a reference alone", () => {
    expect(offer({ a: "cost: $result.number", b: "$resulting", c: "$other.x" }, {})).toMatchObject({
      offer: { arguments: { a: "cost: $result.number", b: "$resulting", c: "$other.x" } },
    });
  });

  it("is open for its time, once", () => {
    expect(isUndoOpen(31_000, 30_999, false)).toBe(true);
    expect(isUndoOpen(31_000, 31_000, false)).toBe(false);
    expect(isUndoOpen(31_000, 2_000, true)).toBe(false);
    expect(isUndoOpen(null, 0, false)).toBe(false);
  });
});
