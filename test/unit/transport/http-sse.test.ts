import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import { createSseParser } from "../../../src/transport/sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("createSseParser", () => {
  it.each<[string, string, readonly [string, string][]]>([
    ["one event", "data: a\n\n", [["message", "a"]]],
    [
      "CR and CRLF",
      "data: a\r\rdata: b\r\n\r\n",
      [
        ["message", "a"],
        ["message", "b"],
      ],
    ],
    ["several data lines with CRLF", "data: a\r\ndata: b\r\n\r\n", [["message", "a\nb"]]],
    ["several data lines", "data: a\ndata\ndata:b\n\n", [["message", "a\n\nb"]]],
    ["one space is cut, no more", "data:  a \n\n", [["message", " a "]]],
    [
      "a type, for one event",
      "event: x\ndata: a\n\ndata: b\n\n",
      [
        ["x", "a"],
        ["message", "b"],
      ],
    ],
    ["a type without data is no event", "event: x\n\ndata: b\n\n", [["message", "b"]]],
    ["comments [HTTP-06]", ": a\n:\n:data: no\ndata: a\n\n", [["message", "a"]]],
    ["a BOM at the start alone", "\ufeffdata: a\n\n\ufeffdata: b\n\n", [["message", "a"]]],
    ["a priming event [HTTPL-12]", "id: 1\ndata:\n\n", [["message", ""]]],
    ["an id alone is no event", "id: 1\n\n", []],
    ["no blank line at the end, no event", "data: a\n", []],
    ["unknown fields, fields with other case or spaces", "DATA: a\n data: b\ndata : c\nfoo\n\n", []],
    ["a colon in the value", "data: a: b\n\n", [["message", "a: b"]]],
  ])("%s", (_title, text, expected) => {
    const events = createSseParser(1000).push(bytes(text));
    expect(events.map(({ type, data }) => [type, data])).toEqual(expected);
  });

  it.each<[string, string, string | undefined]>([
    ["kept from event to event", "id: 1\ndata: a\n\ndata: b\n\n", "1"],
    ["taken without data", "id: 1\n\n", "1"],
    ["not taken before the event is over", "id: 1\ndata: a\n", undefined],
    ["reset by an empty one", "id: 1\ndata: a\n\nid\ndata: b\n\n", ""],
    ["left alone by one with NUL", "id: 1\n\nid: 2\0\n\n", "1"],
  ])("the id is %s", (_title, text, id) => {
    const parser = createSseParser(1000);
    parser.push(bytes(text));
    expect(parser.lastEventId()).toBe(id);
  });

  it.each<[string, number | undefined]>([
    ["retry: 500\n\n", 500],
    ["retry:0\n", 0],
    ["retry: 1e3\n", undefined],
    ["retry: -5\n", undefined],
    ["retry: 5 \n", undefined],
    ["retry:\n", undefined],
    [`retry: ${"9".repeat(400)}\n`, Number.MAX_SAFE_INTEGER],
    ["retry: 5\nretry: soon\n", 5],
  ])("%j", (text, retryMs) => {
    const parser = createSseParser(1000);
    parser.push(bytes(text));
    expect(parser.retryMs()).toBe(retryMs);
  });

  it.each([
    ["a line without end", "data: ".padEnd(300, "x")],
    ["a comment without end", ":".padEnd(300, "x")],
    ["an event of many lines", "data: x\n".repeat(200)],
    ["a long line", `data: ${"x".repeat(300)}\n`],
  ])("stops at the cap: %s", (_title, text) => {
    const parser = createSseParser(200);
    const push = (): void => {
      for (const byte of bytes(text)) parser.push(Uint8Array.of(byte));
    };
    expect(push).toThrow(PortcullisError);
  });

  it("takes events up to the cap one after another, without end", () => {
    const parser = createSseParser(200);
    const chunk = bytes(`data: ${"x".repeat(150)}\n\n: ${"c".repeat(150)}\n`);
    for (let round = 0; round < 100; round += 1) expect(parser.push(chunk)).toHaveLength(1);
  });

  it("takes time linear in the bytes, also in tiny pieces and without line ends", () => {
    const time = (kib: number): number => {
      const parser = createSseParser(1e9);
      const piece = bytes("x".repeat(64));
      const started = process.cpuUsage();
      for (let at = 0; at < kib * 16; at += 1) parser.push(piece);
      parser.push(bytes("\n\n"));
      const used = process.cpuUsage(started);
      return used.user + used.system;
    };
    time(256);
    const small = time(512);
    expect(time(4096)).toBeLessThan(small * 8 * 6 + 50_000);
  });
});
