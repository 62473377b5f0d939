import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdTable } from "../../../src/base/id-table.ts";
import { createRoster, type Seat } from "../../../src/base/roster.ts";

describe("a roster", () => {
  it("holds what a set would hold, whatever comes and goes", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant("add"), fc.nat())), (steps) => {
        const roster = createRoster<number>();
        const seats: Seat<number>[] = [];
        const expected = new Set<number>();
        for (const step of steps) {
          if (step === "add") {
            seats.push(roster.add(seats.length));
            expected.add(seats.length - 1);
          } else if (seats.length > 0) {
            const at = (step as number) % seats.length;
            const seat = seats[at];
            if (seat !== undefined) expect(roster.remove(seat)).toBe(expected.delete(at));
          }
          expect(roster.size()).toBe(expected.size);
          expect(new Set(roster.list())).toEqual(expected);
        }
      }),
    );
  });
});

describe("a table by id", () => {
  it("holds what a map would hold, whatever comes and goes, however long something stays", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 300 }), (steps) => {
        const table = createIdTable<string>();
        const expected = new Map<number, string>();
        let lastId = 0;
        for (const step of steps) {
          if (step < 30) {
            // Ids skip now and then: some are used up without anything under them.
            lastId += 1 + (step % 3);
            table.set(lastId, `item ${lastId}`);
            expected.set(lastId, `item ${lastId}`);
          } else {
            const id = Math.max(0, lastId - (step - 30) * 2);
            expect(table.take(id)).toBe(expected.get(id));
            expected.delete(id);
          }
          expect(table.size).toBe(expected.size);
          for (let id = 0; id <= lastId + 1; id += 1) expect(table.get(id)).toBe(expected.get(id));
        }
        expect(table.list()).toEqual(
          [...expected].sort(([one], [other]) => one - other).map(([, item]) => item),
        );
      }),
    );
  });
});
