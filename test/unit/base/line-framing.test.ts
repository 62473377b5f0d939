import { describe, expect, it } from "vitest";
import { createLineFramer, type Line } from "../../../src/base/line-framing.ts";

function frame(bytes: Buffer, chunkBytes: number, maxLineBytes = 1_000_000): Line[] {
  const framer = createLineFramer({ maxLineBytes });
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    lines.push(...framer.push(bytes.subarray(at, at + chunkBytes)));
  lines.push(...framer.end());
  return lines;
}

const texts = (lines: readonly Line[]): string[] =>
  lines.map((line) => (line.kind === "line" ? line.text : `<${line.kind}>`));

describe("line framer", () => {
  const tolerated: readonly (readonly [string, string, string[]])[] = [
    ["two lines", '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ["a last line without its newline", "one\ntwo", ["one", "two"]],
    ["a byte order mark", "\uFEFFone\ntwo\n", ["one", "two"]],
    ["CRLF and CR CR LF", "one\r\ntwo\r\r\n", ["one", "two"]],
    ["spaces and tabs around", "  one \t\r\n\ttwo\n", ["one", "two"]],
    ["blank lines", "\n\r\n   \none\n\n", ["one"]],
    ["characters of several bytes", "héllo 世界 🎉\n", ["héllo 世界 🎉"]],
    ["nothing", "", []],
  ];
  for (const [what, input, expected] of tolerated) {
    for (const chunkBytes of [1, 3, 1_000]) {
      it(`takes ${what} in chunks of ${chunkBytes}`, () => {
        expect(texts(frame(Buffer.from(input), chunkBytes))).toEqual(expected);
      });
    }
  }

  it("replaces invalid UTF-8 and says so, but not a replacement character that was sent", () => {
    const bytes = Buffer.concat([Buffer.from('"a'), Buffer.from([0xff, 0xc3]), Buffer.from('"\n"\uFFFD"\n')]);
    const lines = frame(bytes, 1);
    expect(lines).toMatchObject([
      { text: '"a\uFFFD\uFFFD"', hasInvalidUtf8: true, byteLength: 5 },
      { text: '"\uFFFD"', hasInvalidUtf8: false, byteLength: 5 },
    ]);
  });

  it("takes a line of exactly the cap and ends at one byte more", () => {
    for (const chunkBytes of [1, 4, 64]) {
      expect(texts(frame(Buffer.from("12345678\n"), chunkBytes, 8))).toEqual(["12345678"]);
      expect(texts(frame(Buffer.from("ok\n123456789\nafter\n"), chunkBytes, 8))).toEqual([
        "ok",
        "<overflow>",
      ]);
    }
  });

  it("reports an overflow once, with the head of the line, and drops what follows", () => {
    const framer = createLineFramer({ maxLineBytes: 10 });
    expect(framer.push(Buffer.from("noise noise noise"))).toEqual([
      { kind: "overflow", byteLength: 17, sample: "noise noise noise" },
    ]);
    expect(framer.push(Buffer.from("more\nmore\n"))).toEqual([]);
    expect(framer.end()).toEqual([]);
  });

  it("counts what it tolerated", () => {
    const framer = createLineFramer({ maxLineBytes: 100 });
    framer.push(Buffer.from("\uFEFFone\r\n\n \n"));
    framer.push(Buffer.from([0xff, 0x0a]));
    expect(framer.counts()).toEqual({
      bytes: 13,
      lines: 2,
      blankLines: 2,
      paddedLines: 1,
      invalidUtf8Lines: 1,
    });
  });

  it("costs about the same per byte in tiny chunks whatever the length of the line", () => {
    const cost = (lineBytes: number): number => {
      const line = Buffer.concat([Buffer.alloc(lineBytes, 0x61), Buffer.from("\n")]);
      const startedAt = process.cpuUsage();
      frame(line, 64, lineBytes);
      const used = process.cpuUsage(startedAt);
      return (used.user + used.system) / lineBytes;
    };
    cost(1_000_000);
    const short = Math.min(cost(1_000_000), cost(1_000_000), cost(1_000_000));
    const long = Math.min(cost(8_000_000), cost(8_000_000));
    // Quadratic work would show as a ratio of 8.
    expect(long / short).toBeLessThan(4);
  });
});
