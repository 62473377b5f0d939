import { expect, it } from "vitest";
import { lostOutcome } from "../../../src/cli/lost-call.ts";
import { PortcullisError } from "../../../src/errors.ts";
import type { ActivityView } from "../../../src/host/views.ts";
import type { Effect } from "../../../src/vocabulary.ts";

const call = { callId: "AAAAAAAAAAAAAAAAAAAA", server: "s", tool: "t" };
const lost = new PortcullisError("connection_lost", "the connection broke");
const unsent = new PortcullisError("server_unavailable", "nobody listens", { data: { wasSent: false } });

function recorded(more: Partial<ActivityView>): ActivityView {
  return {
    ...call,
    at: "2026-01-01T00:00:00.000Z",
    principal: "local",
    grade: "L2",
    outcome: "cancelled",
    code: "interrupted",
    effect: "unknown",
    durationMs: null,
    approvedBy: null,
    decision: null,
    undoUntil: null,
    ...more,
  };
}

it.each<[string, PortcullisError, ActivityView | undefined, boolean, Effect]>([
  ["dispatched and not closed", lost, recorded({}), false, "unknown"],
  ["opened only", lost, recorded({ outcome: "refused", effect: "none" }), false, "none"],
  [
    "done, and only the answer was lost",
    lost,
    recorded({ outcome: "completed", effect: "applied" }),
    false,
    "applied",
  ],
  ["still running somewhere", lost, recorded({ outcome: "running", effect: "none" }), true, "unknown"],
  [
    "reading, and still running",
    lost,
    recorded({ grade: "L0", outcome: "running", effect: "none" }),
    true,
    "none",
  ],
  ["no record, and nobody left", lost, undefined, false, "none"],
  ["no record, and the gateway lives", lost, undefined, true, "unknown"],
  ["never sent to the gateway", unsent, undefined, true, "none"],
])("an answer that is lost, %s", (_name, error, view, isAlive, effect) => {
  const outcome = lostOutcome(call, error, view, isAlive);
  expect(outcome).toMatchObject({ ...call, effect, code: error.code, outcome: "unavailable" });
  expect(outcome.message).toContain(`portcullis activity ${call.callId}`);
  expect(outcome.grade).toBe(view?.grade ?? null);
});
