import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallClosed } from "../../src/audit/marks.ts";
import { createAudit } from "../../src/audit/trail.ts";
import { foldCall } from "../../src/audit/fold.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import type { RecordInput, Records, StoredRecord } from "../../src/store/store.ts";
import type { Effect, Grade } from "../../src/vocabulary.ts";

/** A call as it really went: how far it came, what the server did with it, and how the host saw it end. */
interface Story {
  readonly grade: Grade;
  /** The decision finds this grade. */
  readonly decidedGrade: Grade;
  readonly isSent: boolean;
  readonly attempts: number;
  /** How the host closes it; what is not closed is cut off by the crash at the end. */
  readonly end: "answered" | "failed" | "timed out" | "proven not run" | "cut off";
  readonly isAnsweredLate: boolean;
  /** The call lasts longer than reading calls are held. */
  readonly isLong: boolean;
}

const grades = fc.constantFrom<Grade>("L0", "L1", "L2", "L3");

const stories: fc.Arbitrary<Story> = fc.record({
  grade: grades,
  decidedGrade: grades,
  isSent: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 3 }),
  end: fc.constantFrom("answered", "failed", "timed out", "proven not run", "cut off"),
  isAnsweredLate: fc.boolean(),
  isLong: fc.boolean(),
});

const RISING: readonly Grade[] = ["L0", "L1", "L2", "L3"];

const isReading = ({ grade, decidedGrade }: Story): boolean =>
  RISING.indexOf(grade) + RISING.indexOf(decidedGrade) === 0;

function closing(story: Story): CallClosed | undefined {
  if (story.end === "cut off") return undefined;
  const common = { durationMs: 1, attempts: story.attempts };
  const none: Effect = "none";
  if (!story.isSent) return { ...common, outcome: "refused", code: "approval_denied", effect: none };
  const effect = (wanted: Effect): Effect => (isReading(story) ? none : wanted);
  switch (story.end) {
    case "answered":
      return { ...common, outcome: "completed", code: null, effect: effect("applied") };
    case "failed":
      return { ...common, outcome: "tool_error", code: "tool_error", effect: effect("unknown") };
    case "timed out":
      return { ...common, outcome: "timed_out", code: "timed_out", effect: effect("unknown") };
    case "proven not run":
      return { ...common, outcome: "invalid_arguments", code: "invalid_arguments", effect: none };
  }
}

/** Lives through the stories side by side and keeps what is given to the store, in order. */
async function live(
  all: readonly Story[],
): Promise<{ given: readonly RecordInput[]; sentAfter: ReadonlyMap<string, number> }> {
  const clock = createManualClock();
  const given: RecordInput[] = [];
  /** Per call: how many records were there when its bytes left. */
  const sentAfter = new Map<string, number>();
  const append: Records["append"] = async (record) => void given.push(record);
  const audit = createAudit({ records: { append } as Records, clock, redact: (value) => value });
  await Promise.all(
    all.map(async (story, at) => {
      const callId = `call ${at}`;
      const trail = await audit.open({
        callId,
        principal: "p",
        server: "s",
        tool: "t",
        grade: story.grade,
        arguments: {},
      });
      trail.decided({ decision: "allow", reasons: [], grade: story.decidedGrade });
      if (story.isSent) {
        await trail.dispatched();
        sentAfter.set(callId, given.length);
        for (let number = 1; number <= story.attempts; number += 1)
          trail.attempt(number, { code: null, durationMs: 1 });
      }
      if (story.isLong) audit.release();
      const end = closing(story);
      if (end !== undefined) await trail.closed(end);
      if (story.end === "timed out" && story.isSent && story.isAnsweredLate) trail.late();
    }),
  );
  return { given, sentAfter };
}

const stored = (record: RecordInput, at: number): StoredRecord => ({
  ...record,
  writer: "w",
  sequence: at + 1,
  previousHash: "",
  hash: "",
});

/** What may be said of the effect, by the best knowledge: never less than what may have happened. */
function allowed(story: Story, wasSent: boolean): readonly Effect[] {
  if (isReading(story) || !wasSent) return ["none"];
  switch (story.end) {
    case "answered":
      return ["applied", "unknown"];
    case "proven not run":
      return ["none", "unknown"];
    case "timed out":
      return story.isAnsweredLate ? ["applied", "unknown"] : ["unknown"];
    case "failed":
    case "cut off":
      return ["unknown"];
  }
}

describe("a crash at any point", () => {
  it("folds into an effect that is never wrong, never `none` for a writing call that was sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stories, { minLength: 1, maxLength: 6 }), async (all) => {
        const { given, sentAfter } = await live(all);
        for (let length = 0; length <= given.length; length += 1) {
          const records = given.slice(0, length).map(stored);
          for (const [at, story] of all.entries()) {
            const callId = `call ${at}`;
            const wasSent = (sentAfter.get(callId) ?? Number.POSITIVE_INFINITY) <= length;
            const call = foldCall(
              records.filter((record) => record.callId === callId),
              () => false,
            );
            if (call === undefined) {
              // Nothing on record: nothing was sent that could have changed anything.
              expect(wasSent && !isReading(story)).toBe(false);
              continue;
            }
            // The mark may be on disk an instant before the bytes leave: then `unknown` is the honest answer.
            const mayBe =
              wasSent || !story.isSent ? allowed(story, wasSent) : ["none", ...allowed(story, true)];
            expect(mayBe).toContain(call.effect);
            if (wasSent && !isReading(story) && story.end !== "proven not run")
              expect(call.effect).not.toBe("none");
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
