import { getEventListeners } from "node:events";
import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { createStdioWriter, toLine, type StdioWriter } from "../../../src/transport/stdio-writer.ts";

/** A stream that takes a write only when told to; `writes` holds what arrived. */
function createTap() {
  const writes: string[] = [];
  const waiting: (() => void)[] = [];
  let isOpen = true;
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      writes.push(chunk.toString());
      if (isOpen) done();
      else waiting.push(done);
    },
  });
  return {
    stream,
    writes,
    shut: () => void (isOpen = false),
    /** Takes the write that waits. */
    take: () => waiting.shift()?.(),
    open() {
      isOpen = true;
      waiting.shift()?.();
    },
  };
}

function setUp(more: object = {}) {
  const tap = createTap();
  const clock = createManualClock();
  let stalls = 0;
  const writer: StdioWriter = createStdioWriter({
    stream: tap.stream,
    clock,
    writeDeadlineMs: 1_000,
    queueBytes: 1_000_000,
    queueMessages: 1_000,
    messageBytes: 1_000_000,
    onStalled: () => void (stalls += 1),
    ...more,
  });
  return { tap, clock, writer, stalls: () => stalls };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the way to a server's stdin", () => {
  it("writes what is handed over in one tick in one write, in order", async () => {
    const { tap, writer, clock } = setUp();
    await Promise.all(["a\n", "b\n", "c\n"].map((line) => writer.send(line, undefined)));
    expect(tap.writes).toEqual(["a\nb\nc\n"]);
    expect(writer.queuedBytes).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it("hands over the first of many before the tick ends, so that the server is at work while the rest is made", async () => {
    const { tap, writer } = setUp();
    const sent = Array.from({ length: 20 }, (_unused, at) => writer.send(`${at}\n`, undefined));
    expect(tap.writes).toEqual(["0\n1\n2\n3\n4\n5\n6\n7\n", "8\n9\n10\n11\n12\n13\n14\n15\n"]);
    await Promise.all(sent);
    expect(tap.writes.join("")).toBe(sent.map((_unused, at) => `${at}\n`).join(""));
    expect(tap.writes).toHaveLength(3);
  });

  it("keeps the order and every byte, whenever the stream takes them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400_000 }), fc.boolean(), fc.boolean())),
        async (steps) => {
          const { tap, writer } = setUp({ queueBytes: 1e9 });
          const lines: string[] = [];
          const sent: Promise<void>[] = [];
          for (const [length, shuts, waits] of steps) {
            if (shuts) tap.shut();
            else tap.open();
            const line = `${lines.length}${"x".repeat(length)}\n`;
            lines.push(line);
            sent.push(writer.send(line, undefined));
            if (waits) await turn();
          }
          tap.open();
          await Promise.all(sent);
          expect(tap.writes.join("") === lines.join("")).toBe(true);
          expect(writer.queuedBytes).toBe(0);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("reports a write that makes no progress, and only such a one", async () => {
    const { tap, writer, clock, stalls } = setUp({ queueBytes: 1e9, messageBytes: 1e9 });
    tap.shut();
    // Four pieces: each one that is taken is progress.
    const sent = writer.send(`${"x".repeat(1_000_000)}\n`, undefined);
    for (let at = 0; at < 3; at += 1) {
      await clock.advance(900);
      tap.take();
      await turn();
    }
    expect(stalls()).toBe(0);
    await clock.advance(1_001);
    expect(stalls()).toBe(1);
    tap.open();
    await sent;
    expect(clock.pending()).toBe(0);
  });

  it("takes a line back that still waits, not one that is being written", async () => {
    const { tap, writer } = setUp();
    tap.shut();
    const abort = new AbortController();
    const first = writer.send("first\n", abort.signal);
    await turn();
    const second = writer.send("second\n", abort.signal);
    const third = writer.send("third\n", undefined);
    abort.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    tap.open();
    await Promise.all([first, third]);
    expect(tap.writes).toEqual(["first\n", "third\n"]);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });

  it("does not write a line whose signal aborts in the same tick", async () => {
    const { tap, writer } = setUp();
    const abort = new AbortController();
    const sent = writer.send("a\n", abort.signal);
    abort.abort(new Error("no longer wanted"));
    await expect(sent).rejects.toThrow("no longer wanted");
    expect(tap.writes).toEqual([]);
  });

  it("refuses what goes over the bounds, but never the only message", async () => {
    const { tap, writer } = setUp({ queueBytes: 10, queueMessages: 2, messageBytes: 100 });
    tap.shut();
    const code = (line: string): Promise<string> =>
      writer.send(line, undefined).then(
        () => "sent",
        (error: PortcullisError) => error.code,
      );
    const first = code(`${"x".repeat(50)}\n`);
    expect(await code("y\n")).toBe("queue_full");
    expect(await code("x".repeat(101))).toBe("message_too_large");
    tap.open();
    expect(await first).toBe("sent");
    tap.shut();
    const three = [
      code("1\n"),
      turn().then(() => code("2\n")),
      turn().then(() => code("3\n")),
      turn().then(() => code("4\n")),
    ];
    expect(await three[3]).toBe("queue_full");
    tap.open();
    expect(await Promise.all(three)).toEqual(["sent", "sent", "sent", "queue_full"]);
  });

  it("at a failure rejects what surely was not sent, and only that", async () => {
    const { tap, writer, clock } = setUp();
    tap.shut();
    const partly = writer.send("first\n", undefined);
    await turn();
    const waiting = writer.send("second\n", undefined);
    const cause = new PortcullisError("process_exited", "it exited");
    expect(writer.fail(cause)).toBe(1);
    await expect(partly).resolves.toBeUndefined();
    await expect(waiting).rejects.toMatchObject({ code: "connection_lost", cause, data: { wasSent: false } });
    await expect(writer.send("third\n", undefined)).rejects.toMatchObject({ code: "connection_lost" });
    expect(writer.fail(cause)).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it("hands the last lines over when it finishes", async () => {
    const { tap, writer } = setUp();
    const sent = writer.send("a\n", undefined);
    expect(writer.finish()).toBe(0);
    await sent;
    expect(tap.writes).toEqual(["a\n"]);
  });
});

describe("toLine", () => {
  it("has no line end inside, for any reader [STDIO-01]", () => {
    const message = {
      jsonrpc: "2.0",
      method: "a",
      params: { "k\u2028": "\u0085\n\r\u000b\u000c\u001c\u2029" },
    } as const;
    const line = toLine(message);
    // oxlint-disable-next-line no-control-regex
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u0085\u2028\u2029]/);
    expect(line.at(-1)).toBe("\n");
    expect(JSON.parse(line)).toEqual(message);
  });
});
