import { describe, expect, it } from "vitest";
import { isFresh, MAX_TTL_MS } from "../../../src/registry/freshness.ts";

describe("freshness", () => {
  it.each([
    ["ttlMs 0 is stale at once [CCH-03]", 0, 0, false],
    ["before the end [CCH-04]", 100, 99, true],
    ["at the end [CCH-04]", 100, 100, false],
    ["negative is 0 [CCH-06]", -5, 0, false],
    ["not a number is 0 [CCH-05]", Number.NaN, 0, false],
    ["a clock that went back", 100, -1, false],
    ["never longer than a day", Number.MAX_SAFE_INTEGER, MAX_TTL_MS, false],
  ])("%s", (_what, ttlMs, after, fresh) => {
    expect(
      isFresh(
        { receivedAt: 1_000, hint: { ttlMs, cacheScope: "private" }, isInvalidated: false },
        1_000 + after,
      ),
    ).toBe(fresh);
  });

  it("ends with a notification [CCH-11]", () => {
    expect(
      isFresh({ receivedAt: 0, hint: { ttlMs: 100, cacheScope: "public" }, isInvalidated: true }, 1),
    ).toBe(false);
  });
});
