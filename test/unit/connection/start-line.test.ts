import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import {
  createStartLine,
  nextToStart,
  prospectOf,
  type StartProspect,
} from "../../../src/connection/start-line.ts";

const never = new AbortController().signal;

describe("prospectOf", () => {
  it.each([
    ["never seen", 0, undefined, "unknown"],
    ["well when it was last seen", 0, { ok: true }, "well"],
    ["lost or never ready when it was last seen", 0, { ok: false }, "failing"],
    ["failed just now, whatever is remembered", 1, { ok: true }, "failing"],
    ["failed at its first start", 1, undefined, "failing"],
  ] as const)("%s", (_what, failures, lastProof, prospect) => {
    expect(prospectOf(failures, lastProof)).toBe(prospect);
  });
});

describe("nextToStart", () => {
  it.each<[string, StartProspect[], StartProspect[], number, number | undefined]>([
    ["nobody waits", [], [], 8, undefined],
    ["the first of several alike", ["unknown", "unknown"], [], 8, 0],
    ["a well one before all who came earlier", ["failing", "unknown", "well"], [], 8, 2],
    ["an unknown one before a failing one", ["failing", "unknown"], [], 8, 1],
    ["every place is taken", ["well"], ["well", "well"], 2, undefined],
    ["an unknown one waits for well ones that start", ["failing", "unknown"], ["well"], 8, undefined],
    ["not for failing ones that start", ["failing", "unknown"], ["failing"], 8, 1],
    ["a failing one waits for a well one that starts", ["failing"], ["well"], 8, undefined],
    ["and for one that nobody knows", ["failing"], ["unknown"], 8, undefined],
    ["a failing one where no other starts", ["failing"], [], 8, 0],
    ["failing ones take half of the places", ["failing"], ["failing", "failing"], 4, undefined],
    ["a good one takes one of the other half", ["failing", "well"], ["failing", "failing"], 4, 1],
    ["a single place serves failing ones too", ["failing"], [], 1, 0],
  ])("%s", (_what, waiting, holding, places, index) => {
    expect(nextToStart(waiting, holding, places)).toBe(index);
  });
});

describe("start line", () => {
  /** Everybody who was let in so far, in order, with the way to leave. */
  function setUp(places: number) {
    const clock = createManualClock();
    const line = createStartLine(clock, () => places);
    const order: string[] = [];
    const leaves = new Map<string, () => void>();
    const enter = (name: string, prospect: StartProspect, signal = never): Promise<void> =>
      line.enter(prospect, signal).then((leave) => {
        order.push(name);
        leaves.set(name, leave);
      });
    const turn = (): Promise<void> => clock.advance(0);
    const leave = async (name: string): Promise<void> => {
      leaves.get(name)?.();
      await turn();
    };
    return { clock, order, enter, leave, turn };
  }

  it("twelve at once, the bad ones named first: every good one starts before any bad one, without time passing", async () => {
    const { clock, order, enter, leave, turn } = setUp(8);
    for (const name of ["hangs", "exits"]) void enter(name, "failing");
    for (const name of ["floods", "slow"]) void enter(name, "unknown");
    const good = Array.from({ length: 8 }, (_unused, at) => `good${at}`);
    for (const name of good) void enter(name, "well");
    await turn();
    expect(order).toEqual(good);
    for (const name of good.slice(1)) await leave(name);
    expect(order).toHaveLength(8);
    await leave("good0");
    expect(order.slice(8)).toEqual(["floods", "slow"]);
    await leave("floods");
    expect(order).toHaveLength(10);
    await leave("slow");
    expect(order.slice(10)).toEqual(["hangs", "exits"]);
    expect(clock.monotonic()).toBe(0);
  });

  it("one that does not get ready keeps its place for 500 ms and no longer", async () => {
    const { clock, order, enter } = setUp(1);
    void enter("hangs", "unknown");
    void enter("next", "unknown");
    await clock.advance(499);
    expect(order).toEqual(["hangs"]);
    await clock.advance(1);
    expect(order).toEqual(["hangs", "next"]);
  });

  it("a good one that comes while bad ones start finds a place at once", async () => {
    const { clock, order, enter, turn } = setUp(4);
    for (let at = 0; at < 6; at += 1) void enter(`bad${at}`, "failing");
    await turn();
    expect(order).toEqual(["bad0", "bad1"]);
    void enter("good", "well");
    await turn();
    expect(order.at(-1)).toBe("good");
    await clock.advance(499);
    expect(order).toHaveLength(3);
    await clock.advance(1);
    expect(order.slice(3)).toEqual(["bad2", "bad3"]);
  });

  it("who gives up leaves the line; who was let in gives its place back once", async () => {
    const { clock, order, enter, leave, turn } = setUp(1);
    const controller = new AbortController();
    await expect(enter("early", "well", AbortSignal.abort(new Error("too late")))).rejects.toThrow(
      "too late",
    );
    void enter("first", "well");
    await turn();
    const gone = enter("gone", "well", controller.signal);
    void enter("second", "well");
    controller.abort(new Error("gave up"));
    await expect(gone).rejects.toThrow("gave up");
    await leave("first");
    await leave("first");
    void enter("third", "well");
    await turn();
    expect(order).toEqual(["first", "second"]);
    await leave("second");
    expect(order).toEqual(["first", "second", "third"]);
    await leave("third");
    expect(clock.pending()).toBe(0);
  });
});
