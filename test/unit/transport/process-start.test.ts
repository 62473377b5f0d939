import { describe, expect, it } from "vitest";
import {
  parseProcessStat,
  processStartOf,
  readProcessStat,
  ticksHere,
} from "../../../src/transport/process-start.ts";

const tail = "S 1 42 43 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 20 30";

describe("parseProcessStat", () => {
  it("reads names with spaces and parentheses", () => {
    for (const name of ["node", "a b", "x) R 1 1 1", "((", ") ("]) {
      const expected = { pid: 7, state: "S", parent: 1, group: 42, session: 43, startTicks: 987_654 };
      expect(parseProcessStat(`7 (${name}) ${tail}`)).toEqual(expected);
    }
  });

  it("refuses what it does not understand", () => {
    for (const text of ["", "7", "7 (node)", "7 (node) S 1", `x (node) ${tail}`])
      expect(parseProcessStat(text)).toBeUndefined();
  });
});

describe("the start of a process", () => {
  it("is the same whenever it is asked, and tells ticks on this boot only", () => {
    const start = processStartOf(process.pid);
    expect(start).toBe(processStartOf(process.pid));
    expect(ticksHere(start ?? "")).toBe(readProcessStat(process.pid)?.startTicks);
    expect(ticksHere(`x${start}`)).toBeUndefined();
    expect(ticksHere("")).toBeUndefined();
  });

  it("is unknown for a process that is not there", () => {
    expect(processStartOf(2 ** 30)).toBeUndefined();
  });
});
