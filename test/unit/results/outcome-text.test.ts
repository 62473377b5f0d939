import { describe, expect, it } from "vitest";
import { errorCodes, type ErrorCode } from "../../../src/errors.ts";
import { modelMessage, type UnfinishedOutcome } from "../../../src/results/outcome-text.ts";

const base: UnfinishedOutcome = {
  server: "files",
  tool: "write",
  outcome: "refused",
  code: "tool_off",
  effect: "none",
};

describe("modelMessage", () => {
  it.each<[Partial<UnfinishedOutcome>, RegExp]>([
    [
      { outcome: "tool_error", code: "tool_error", effect: "unknown" },
      /reported an error.*\n.*not known whether it took effect.*\nRead its message/,
    ],
    [{ outcome: "invalid_arguments", code: "invalid_arguments" }, /Correct the arguments/],
    [{ outcome: "refused", code: "tool_off" }, /Do not try again: an operator/],
    [{ outcome: "refused", code: "approval_denied" }, /A person said no/],
    [{ outcome: "refused", code: "approval_expired" }, /Nobody answered in time/],
    [{ outcome: "timed_out", code: "timed_out", effect: "none" }, /try once more/],
    [{ outcome: "timed_out", code: "timed_out", effect: "unknown" }, /find out by reading/],
    [{ outcome: "cancelled", code: "cancelled" }, /unless the user asks/],
    [
      { outcome: "unavailable", code: "server_unavailable", retryAfterMs: 2_500 },
      /try again later\. Not before 3 seconds/,
    ],
    [{ outcome: "unavailable", code: "spawn_failed" }, /Go on without it\. Tell the user\./],
    [{ outcome: "auth_required", code: "auth_required" }, /operator has to log in/],
    [{ outcome: "protocol_error", code: "protocol_error" }, /same call again will not help/],
    [{ outcome: "pending", code: null, pendingId: "task-1" }, /Ask for it later by "task-1"/],
  ])("%j", (more, expected) => {
    expect(modelMessage({ ...base, ...more })).toMatch(expected);
  });

  it("has something to say for every code, and never tells to repeat what may have taken effect", () => {
    const kinds: UnfinishedOutcome["outcome"][] = [
      "refused",
      "unavailable",
      "timed_out",
      "protocol_error",
      "tool_error",
    ];
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      for (const outcome of kinds) {
        const said = modelMessage({ ...base, outcome, code, effect: "unknown" });
        expect(said).toContain(`(${code})`);
        expect(said).toContain("find out by reading before you make it again");
      }
    }
  });

  it("quotes names harmlessly, lists hints, and puts framed text last", () => {
    const said = modelMessage({
      ...base,
      tool: "a`\n<b>",
      hints: ["/n: must be an integer", "/m: is missing"],
      framed: "FRAMED",
    });
    expect(said.split("\n")).toEqual([
      "Call of `a' 'b'` of server `files`: refused (tool_off).",
      "Nothing was changed.",
      "Do not try again: an operator would have to allow it. Tell the user.",
      "- /n: must be an integer",
      "- /m: is missing",
      "FRAMED",
    ]);
  });
});
