import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, type SseEvent } from "../../src/transport/sse.ts";

interface Read {
  readonly events: readonly SseEvent[];
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
}

function read(chunks: readonly Uint8Array[]): Read {
  const parser = createSseParser(1_000_000);
  const events = chunks.flatMap((chunk) => parser.push(chunk));
  return { events, lastEventId: parser.lastEventId(), retryMs: parser.retryMs() };
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length));
}

const lineEnd = fc.constantFrom("\n", "\r", "\r\n");
const field = fc.oneof(
  fc.constantFrom(
    "data",
    "data:",
    "data: ",
    "id: 7",
    "id:",
    "id: a\0b",
    "retry: 50",
    "retry: 5x",
    ":comment",
    "event: ping",
    "event:",
    "other: x",
    "",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text}`),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const stream = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(field, lineEnd), { maxLength: 30 }))
  .map(([hasBom, lines]) => (hasBom ? "\ufeff" : "") + lines.map(([text, end]) => text + end).join(""));

describe("the SSE parser", () => {
  it("gives the same for any split of the bytes", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), (text, cuts) => {
        const bytes = new TextEncoder().encode(text);
        expect(read(split(bytes, cuts))).toEqual(read([bytes]));
        expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(read([bytes]));
      }),
    );
  });

  it("gives the same for any split of bytes that are no text", () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 20 }), (raw, cuts) => {
        expect(read(split(raw, cuts))).toEqual(read([raw]));
      }),
    );
  });

  it("reads back what an encoder wrote", () => {
    const data = fc.string({ unit: "grapheme" }).filter((text) => !/\r/.test(text));
    fc.assert(
      fc.property(fc.array(data, { maxLength: 8 }), lineEnd, (texts, end) => {
        const text = texts
          .map(
            (one) =>
              one
                .split("\n")
                .map((line) => `data: ${line}${end}`)
                .join("") + end,
          )
          .join("");
        const events = read([new TextEncoder().encode(text)]).events;
        expect(events).toEqual(texts.map((one) => ({ type: "message", data: one })));
      }),
    );
  });
});
