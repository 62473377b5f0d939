import { describe, expect, it } from "vitest";
import { toCallToolResult } from "../../../src/gateway/call-result.ts";
import type { Outcome } from "../../../src/host/outcome.ts";
import type { Era } from "../../../src/protocol/revisions.ts";
import type { Finding, OutcomeKind, Severity } from "../../../src/vocabulary.ts";

function outcome(more: Partial<Outcome> = {}): Outcome {
  return {
    callId: "c1",
    server: "s",
    tool: "t",
    grade: "L0",
    outcome: "completed",
    code: null,
    effect: "none",
    message: "answered",
    content: [
      { type: "text", text: "raw text of the server" },
      { type: "image", data: "AAAA", mimeType: "image/png", _meta: { "server/secret": 1 }, annotations: {} },
      { type: "audio", data: "BBBB", mimeType: "audio/wav" },
      { type: "resource_link", uri: "https://evil.example/", name: "link", description: "x" },
    ],
    structured: { count: 1 },
    model: "the model's channel",
    findings: [],
    attempts: 1,
    durationMs: 1,
    ...more,
  };
}

const finding = (rule: string, severity: Severity): Finding => ({ rule, severity, where: "x", message: "m" });

describe("toCallToolResult", () => {
  it("gives the model's channel; pictures, sounds and links without what hangs on them; structured output; the facts", () => {
    expect(toCallToolResult(outcome(), "modern", "block")).toEqual({
      content: [
        { type: "text", text: "the model's channel" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "audio", data: "BBBB", mimeType: "audio/wav" },
        // It leads back here, and nowhere else.
        { type: "resource_link", uri: "portcullis://s/https://evil.example/", name: "link" },
      ],
      structuredContent: { count: 1 },
      _meta: {
        "portcullis/outcome": { callId: "c1", outcome: "completed", code: null, effect: "none", grade: "L0" },
      },
    });
  });

  it.each<OutcomeKind>([
    "tool_error",
    "invalid_arguments",
    "refused",
    "timed_out",
    "cancelled",
    "unavailable",
    "auth_required",
    "protocol_error",
    "pending",
  ])("%s is an error, in words alone", (kind) => {
    const result = toCallToolResult(outcome({ outcome: kind, code: "internal" }), "modern", "block");
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: "the model's channel" }] });
    expect(result["content"]).toHaveLength(1);
    expect(result).not.toHaveProperty("structuredContent");
  });

  it.each<["note" | "mark" | "block" | undefined, Severity, boolean]>([
    ["block", "high", true],
    ["block", "low", false],
    ["mark", "high", false],
    ["note", "high", false],
    [undefined, "high", true],
  ])("scan %s with a %s finding: held back is %s", (scan, severity, isHeld) => {
    const found = outcome({ findings: [finding("injection.override", severity)] });
    const result = toCallToolResult(found, "modern", scan);
    expect(result["isError"] === true).toBe(isHeld);
    expect(Object.hasOwn(result, "structuredContent")).toBe(!isHeld);
    expect((result["content"] as unknown[]).length).toBe(isHeld ? 1 : 4);
  });

  it.each(["output.missing", "output.mismatch"])(
    "%s: marked, pictures kept, no structured output",
    (rule) => {
      const result = toCallToolResult(outcome({ findings: [finding(rule, "low")] }), "modern", "block");
      expect(result["isError"]).toBe(true);
      expect(result).not.toHaveProperty("structuredContent");
      expect(result["content"]).toHaveLength(4);
    },
  );

  it.each<[Era, Outcome["structured"], boolean]>([
    ["modern", [1], true],
    ["modern", 0, true],
    ["modern", null, true],
    ["legacy", [1], false],
    ["legacy", null, false],
    ["legacy", { a: 1 }, true],
  ])("%s carries %j as structured output: %s", (era, structured, isCarried) => {
    const result = toCallToolResult(outcome({ structured: structured ?? null }), era, "block");
    expect(Object.hasOwn(result, "structuredContent")).toBe(isCarried);
    expect(result).not.toHaveProperty("isError");
  });
});
