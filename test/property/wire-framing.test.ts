import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineFramer, type Line } from "../../src/base/line-framing.ts";

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc
    .array(fc.constantFrom("\n", "\r\n", " ", "\uFEFF", "é", "🎉", '{"a":1}', "x"), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join(""))),
);

function frame(chunks: readonly Buffer[], maxLineBytes: number): Line[] {
  const framer = createLineFramer({ maxLineBytes });
  return [...chunks.flatMap((chunk) => framer.push(chunk)), ...framer.end()];
}

function split(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((start, index) => whole.subarray(start, at[index] ?? whole.length));
}

describe("line framing", () => {
  it("gives the same lines for any split of the same bytes [STDIO-01]", () => {
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.constantFrom(5, 40, 10_000),
        (raw, cuts, cap) => {
          const whole = Buffer.from(raw);
          const comparable = (lines: Line[]): unknown[] =>
            lines.map((line) => (line.kind === "line" ? line : line.kind));
          expect(comparable(frame(split(whole, cuts), cap))).toEqual(comparable(frame([whole], cap)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("gives back every message that was written one per line", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (messages, cuts) => {
          const written = Buffer.from(messages.map((message) => `${JSON.stringify({ message })}\n`).join(""));
          const read = frame(split(written, cuts), 1_000_000).map((line) =>
            line.kind === "line" ? (JSON.parse(line.text) as { message: unknown }).message : line,
          );
          expect(JSON.stringify(read)).toEqual(JSON.stringify(messages));
        },
      ),
    );
  });
});
