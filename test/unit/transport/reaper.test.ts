import { describe, expect, it } from "vitest";
import type { ProcessStat } from "../../../src/transport/process-start.ts";
import { judgeChild, type ChildFacts } from "../../../src/transport/reaper.ts";

const PID = 500;
const member = (pid: number, startTicks: number, session = PID): ProcessStat => ({
  pid,
  state: "S",
  parent: 1,
  group: PID,
  session,
  startTicks,
});
const dead = { isInstanceAlive: false, startTicks: 1_000 };

const table: readonly [string, ChildFacts, string][] = [
  ["its host lives", { ...dead, isInstanceAlive: true, members: [member(PID, 1_000)] }, "spare"],
  [
    "its start is not known, or of another boot",
    { ...dead, startTicks: undefined, members: [member(PID, 1_000)] },
    "spare",
  ],
  ["the platform does not tell", { ...dead, members: undefined }, "spare"],
  ["nobody is left", { ...dead, members: [] }, "forget"],
  ["it runs", { ...dead, members: [member(PID, 1_000), member(501, 1_001)] }, "end"],
  ["its number was given to a later process", { ...dead, members: [member(PID, 1_001)] }, "forget"],
  ["its number was an earlier process's", { ...dead, members: [member(PID, 999)] }, "forget"],
  ["only its children are left", { ...dead, members: [member(501, 1_000), member(502, 1_002)] }, "end"],
  ["a member is older than it", { ...dead, members: [member(501, 999), member(502, 1_002)] }, "spare"],
  ["a member is of another session", { ...dead, members: [member(501, 1_001, 7)] }, "spare"],
];

describe("judging a child of another host", () => {
  for (const [when, facts, verdict] of table) {
    it(`${verdict}: ${when}`, () => {
      expect(judgeChild(PID, facts).verdict).toBe(verdict);
    });
  }
});
