/** The small parts: pulse, requests in flight, reading messages, what a client accepts. */
import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "../../../src/base/utf8.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { readAccept } from "../../../src/gateway/http-answer.ts";
import { createInFlight } from "../../../src/gateway/in-flight.ts";
import { judgeModernHead } from "../../../src/gateway/mcp-modern.ts";
import { createPulse } from "../../../src/gateway/pulse.ts";
import { readMessage } from "../../../src/gateway/read-message.ts";

describe("createPulse", () => {
  it("beats for whoever is there, and sleeps when nobody is", async () => {
    const clock = createManualClock();
    const pulse = createPulse(clock, 100);
    expect(clock.pending()).toBe(0);
    let beats = 0;
    const leave = pulse.add(() => (beats += 1));
    const leaveToo = pulse.add(() => leaveToo());
    await clock.advance(250);
    expect([beats, clock.pending()]).toEqual([2, 1]);
    leave();
    await clock.advance(200);
    expect([beats, clock.pending()]).toEqual([2, 0]);
    pulse.add(() => (beats += 1));
    pulse.close();
    pulse.add(() => (beats += 1));
    await clock.advance(1_000);
    expect([beats, clock.pending()]).toEqual([2, 0]);
  });
});

describe("createInFlight", () => {
  const never = async (signal: AbortSignal): Promise<string> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted"), { once: true }));

  it("cancels by id and type of id, and then answers nothing", async () => {
    const inFlight = createInFlight();
    const { signal } = new AbortController();
    const text = inFlight.run("1", signal, never);
    const number = inFlight.run(1, signal, never);
    expect(inFlight.size).toBe(2);
    inFlight.cancel("1");
    inFlight.cancel("unknown");
    expect(await text).toEqual({ kind: "cancelled" });
    expect(await inFlight.run(1, signal, never)).toEqual({ kind: "duplicate" });
    inFlight.cancel(1);
    await number;
    expect(inFlight.size).toBe(0);
  });

  it("answers where the outside ended it, and gives ids back after a failure", async () => {
    const inFlight = createInFlight();
    const outside = new AbortController();
    const run = inFlight.run(1, outside.signal, never);
    outside.abort(new Error("over"));
    expect(await run).toEqual({ kind: "answered", answer: "aborted" });
    await expect(
      inFlight.run(2, new AbortController().signal, async () => Promise.reject(new Error("x"))),
    ).rejects.toThrow("x");
    expect(inFlight.size).toBe(0);
  });
});

describe("readMessage", () => {
  it.each<[string, string, number | null]>([
    ["a request", '{"jsonrpc":"2.0","id":1,"method":"ping"}', null],
    ["a request with white space", ' \n{"jsonrpc":"2.0","id":1,"method":"ping"} ', null],
    ["a batch of one", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null],
    ["nothing", "", -32700],
    ["half", '{"jsonrpc":', -32700],
    ["a number", "1", -32600],
    ["no version", '{"id":1,"method":"ping"}', -32600],
    ["an id of null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    [
      "two at once",
      '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}',
      -32700,
    ],
    ["an empty batch", "[]", -32600],
    [
      "an integer that would become another",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"n":9007199254740993}}}',
      -32600,
    ],
    [
      "a number that would become null",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"n":1e400}}}',
      -32600,
    ],
    ["a key given twice", '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', -32600],
    [
      "a key given twice in the arguments",
      '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"to":"a","to":"b"}}}]',
      -32600,
    ],
    [
      "`__proto__` as a key",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"__proto__":1}}}',
      -32600,
    ],
    [
      "too deep",
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(300)}${"]".repeat(300)}}}`,
      -32600,
    ],
  ])("%s", (_name, text, code) => {
    const message = readMessage({ text, hasInvalidUtf8: false });
    expect(message.kind === "unreadable" ? message.error.code : null).toBe(code);
  });

  it("bytes that were no UTF-8 are not passed on as other ones", () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}', "latin1");
    expect(readMessage(decodeUtf8(bytes))).toMatchObject({ kind: "unreadable", error: { code: -32700 } });
    expect(readMessage(decodeUtf8(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\uFFFD"}')))).toMatchObject({
      kind: "request",
    });
  });
});

describe("readAccept", () => {
  it.each<[string | undefined, boolean, boolean]>([
    [undefined, true, true],
    ["*/*", true, true],
    ["application/json, text/event-stream", true, true],
    ["Application/JSON", true, false],
    ["text/event-stream;q=0.9", false, true],
    ["text/*", false, true],
    ["application/*", true, false],
    ["text/html", false, false],
  ])("%s", (accept, json, eventStream) => {
    expect(readAccept(accept === undefined ? {} : { accept })).toEqual({ json, eventStream });
  });
});

describe("judgeModernHead over stdio", () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  it.each<[string, object, number | undefined]>([
    ["right", meta, undefined],
    ["no capabilities", { ...meta, "io.modelcontextprotocol/clientCapabilities": undefined }, -32602],
    ["an unknown version", { ...meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01" }, -32022],
    ["a version that is a number", { ...meta, "io.modelcontextprotocol/protocolVersion": 1 }, -32602],
  ])("%s", (_name, _meta, code) => {
    const message = {
      method: "tools/list",
      params: JSON.parse(JSON.stringify({ _meta })) as Record<string, never>,
    };
    expect(judgeModernHead(message, null, [])?.code).toBe(code);
  });
});
