import { describe, expect, it } from "vitest";
import { EMPTY_FLOW, isToxic, labelsOf, nextFlow } from "../../../src/policy/labels.ts";

describe("labels", () => {
  it("without any: private, untrusted, and external for what writes", () => {
    expect(labelsOf({ labels: [] }, { labels: [] }, "L0")).toEqual({
      isPrivate: true,
      isUntrusted: true,
      isExternal: false,
    });
    expect(labelsOf({ labels: [] }, { labels: [] }, "L1")).toEqual({
      isPrivate: true,
      isUntrusted: true,
      isExternal: true,
    });
  });

  it("of the tool speak before those of the server, the dangerous one before the harmless", () => {
    const server = { labels: ["private", "trusted", "internal"] } as const;
    expect(labelsOf(server, { labels: ["public"] }, "L2")).toEqual({
      isPrivate: false,
      isUntrusted: false,
      isExternal: false,
    });
    expect(labelsOf(server, { labels: ["untrusted", "trusted"] }, "L2")).toMatchObject({ isUntrusted: true });
  });
});

describe("the flow of a conversation", () => {
  const secret = { isPrivate: true, isUntrusted: false, isExternal: false };
  const strange = { isPrivate: false, isUntrusted: true, isExternal: false };
  const outward = { isPrivate: false, isUntrusted: false, isExternal: true };

  it("keeps what was first, in either order", () => {
    const one = nextFlow(nextFlow(EMPTY_FLOW, secret, "a"), strange, "b");
    const other = nextFlow(nextFlow(EMPTY_FLOW, strange, "b"), secret, "a");
    expect(one).toEqual({ sawPrivate: "a", sawUntrusted: "b" });
    expect(other).toEqual(one);
    expect(nextFlow(one, secret, "c")).toBe(one);
  });

  it("is toxic only for what sends outward", () => {
    const both = nextFlow(EMPTY_FLOW, { ...secret, isUntrusted: true }, "a");
    expect(isToxic(both, outward)).toBe(true);
    expect(isToxic(both, secret)).toBe(false);
    expect(isToxic(EMPTY_FLOW, outward)).toBe(false);
  });
});
