/** The trace that a caller tells of, on its way to the server; and what listeners hear of a call. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";
import { initialize, legacy, modern, openBench, send, type GatewayBench } from "../support/gateway-kit.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
const ECHO = { name: "peer__echo", arguments: { text: "hi" } };

let bench: GatewayBench;

beforeEach(async () => {
  bench = await openBench();
});
afterEach(async () => bench.close());

/** What the server got in `_meta` with each call. */
function metaOfCalls(): readonly unknown[] {
  return bench
    .ledger()
    .filter(({ tool }) => tool === "echo")
    .map(({ meta }) => meta);
}

describe("the trace of an agent's call", { timeout: 30_000 }, () => {
  it("reaches the server, and its baggage does not [META-13] [META-15]", async () => {
    const meta = { traceparent: TRACEPARENT, tracestate: "a=1", baggage: "user=alice" };
    await send(bench, modern("tools/call", ECHO, { meta }));
    const session = await initialize(bench);
    await send(bench, legacy(session, "tools/call", { ...ECHO, _meta: meta }));
    const passed = { traceparent: TRACEPARENT, tracestate: "a=1" };
    expect(metaOfCalls()).toEqual([passed, passed]);
  });

  it.each([
    ["nothing", {}],
    ["another form", { traceparent: "mine", tracestate: "a=1" }],
    ["no text", { traceparent: 7 }],
    ["an id of zeros alone", { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }],
  ] satisfies [string, JsonObject][])("%s: the server is told nothing", async (_what, meta) => {
    await send(bench, modern("tools/call", ECHO, { meta }));
    expect(metaOfCalls()).toEqual([undefined]);
  });

  it("a listener that keeps traces says what the server is told", async () => {
    const asked: string[] = [];
    const trace = (callId: string) => {
      asked.push(callId);
      return { traceparent: OTHER };
    };
    const off = bench.host.onEvent(() => undefined, { trace });
    const turn = bench.host.turn();
    const { callId } = await turn.call("peer__echo", { text: "hi" }, { trace: { traceparent: TRACEPARENT } });
    off();
    await turn.call("peer__echo", { text: "hi" }, { trace: { traceparent: TRACEPARENT } });
    await turn.close();
    expect(asked).toEqual([callId]);
    expect(metaOfCalls()).toEqual([{ traceparent: OTHER }, { traceparent: TRACEPARENT }]);
  });
});

describe("what listeners hear of a call", { timeout: 30_000 }, () => {
  const callsOf = async (work: () => Promise<unknown>): Promise<readonly HostEvent[]> => {
    const events: HostEvent[] = [];
    const off = bench.host.onEvent((event) => {
      if (event.type.startsWith("call.")) events.push(event);
    });
    await work();
    off();
    return events;
  };

  it("one that only reads: opened, sent, answered, closed", async () => {
    const trace = { traceparent: TRACEPARENT };
    const events = await callsOf(() =>
      bench.host.call({ server: "peer", tool: "echo" }, { text: "hi" }, { trace }),
    );
    expect(events).toMatchObject([
      { type: "call.opened", method: "tools/call", tool: "echo", grade: "L0", trace },
      { type: "call.dispatched", attempt: 1, transport: "stdio", revision: "2025-11-25" },
      { type: "call.attempted", attempt: 1, code: null, rpcCode: null },
      { type: "call.closed", outcome: "completed", isKnown: true, trace },
    ]);
    const opened = events[0];
    if (opened?.type !== "call.opened") throw new Error("no call was opened");
    expect(opened.startedAt).toBeLessThanOrEqual(opened.at);
    expect(new Set(events.map((event) => "callId" in event && event.callId)).size).toBe(1);
  });

  it("one that a person allows at the terminal: asked and approved before it is sent", async () => {
    const consent = { by: "local", channel: "terminal", typed: null } as const;
    const events = await callsOf(() =>
      bench.host.call({ server: "peer", tool: "write" }, { text: "hi" }, { consent }),
    );
    expect(events.map(({ type }) => type)).toEqual([
      "call.opened",
      "call.asked",
      "call.approved",
      "call.dispatched",
      "call.attempted",
      "call.closed",
    ]);
    expect(events[2]).toMatchObject({ channel: "terminal" });
  });

  it("a tool that does not exist: closed, as the caller called it", async () => {
    const turn = bench.host.turn();
    const events = await callsOf(() => turn.call("peer__nothing", {}));
    await turn.close();
    expect(events).toMatchObject([{ type: "call.closed", isKnown: false, code: "unknown_tool" }]);
  });

  it("a server's error, with the code that it answered with; a resource that is read", async () => {
    const events = await callsOf(() => bench.host.read("peer", "demo://x"));
    expect(events).toMatchObject([
      { type: "call.opened", method: "resources/read" },
      { type: "call.dispatched" },
      { type: "call.attempted", code: "remote_error", rpcCode: -32601 },
      { type: "call.closed", method: "resources/read", isKnown: true, code: "remote_error" },
    ]);
  });
});
