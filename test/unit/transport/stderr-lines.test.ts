import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createStderrLines } from "../../../src/transport/stderr-lines.ts";

function collect(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const take = createStderrLines(createManualClock(), (line) => void lines.push(line));
  for (const chunk of chunks) take(chunk);
  return lines;
}

describe("stderr by the line", () => {
  it("gives the same lines however the bytes are split", () => {
    const text = "first\r\n\n  \nzweite Zeile €\n\u001b[31mred\nlast without end";
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const at = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(collect(chunks)).toEqual(["first", "zweite Zeile €", "␛[31mred"]);
      }),
    );
  });

  it("cuts a line that is too long, and holds no more of it", () => {
    const chunks = Array.from({ length: 1_000 }, () => Buffer.alloc(10_000, "x"));
    expect(collect([...chunks, Buffer.from("\nnext\n")])).toEqual(["x".repeat(4_096), "next"]);
  });

  it("leaves out what comes too fast, and says how much", async () => {
    const clock = createManualClock();
    const lines: string[] = [];
    const take = createStderrLines(clock, (line) => void lines.push(line));
    take(Buffer.from("spam\n".repeat(1_000)));
    expect(lines).toHaveLength(200);
    await clock.advance(1_000);
    take(Buffer.from("ham\n"));
    expect(lines.slice(200)).toEqual(["[800 lines left out]", "ham"]);
  });
});
