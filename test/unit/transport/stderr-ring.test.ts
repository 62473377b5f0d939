import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStderrRing } from "../../../src/transport/stderr-ring.ts";

const same = (text: string): string => text;

describe("the stderr ring", () => {
  it("keeps the last bytes, however they came", () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.string({ unit: "grapheme-ascii" })),
      (capacity, chunks) => {
        const ring = createStderrRing(capacity, same);
        for (const chunk of chunks) ring.push(Buffer.from(chunk));
        const all = chunks.join("");
        expect(ring.tail(1_000)).toBe(all.slice(Math.max(0, all.length - capacity)).trim());
        expect(ring.totalBytes()).toBe(all.length);
      },
    );
    fc.assert(property);
  });

  it("cuts no character in half", () => {
    const ring = createStderrRing(10, same);
    ring.push(Buffer.from("€".repeat(20)));
    expect(ring.tail()).toBe("€€€");
  });

  it("shows whole lines, with control characters visible and secrets out before anything is cut", () => {
    const ring = createStderrRing(1_000, (text) => text.replaceAll("s3cr3t-value", "***"));
    ring.push(Buffer.from("one s3cr3t-value\ntwo \u001b[2J\r\nthree"));
    expect(ring.tail()).toBe("one ***\ntwo ␛[2J\nthree");
    expect(ring.tail(14)).toBe("three");
    expect(ring.tail(3)).toBe("ree");
  });

  it("is empty before anything came, and with no capacity", () => {
    expect(createStderrRing(10, same).tail()).toBe("");
    const none = createStderrRing(0, same);
    none.push(Buffer.from("x"));
    expect(none.tail()).toBe("");
    expect(none.totalBytes()).toBe(1);
  });
});
