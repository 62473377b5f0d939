import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span } from "@opentelemetry/api";
import { StackContextManager } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEventHub } from "../../../src/host/event-hub.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";
import { observeHost, type ObserveOptions } from "../../../src/telemetry/otel.ts";
import { createOtelMemory, type OtelMemory } from "../../support/otel-memory.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";
/** Numbers below the time at which the process started mean something else to the SDK. */
const T = Date.UTC(2026, 10, 30);
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

let memory: OtelMemory;
beforeEach(() => {
  memory = createOtelMemory();
});
afterEach(() => memory.close());

const about = { callId: "c1", principal: "alice", server: "files", tool: "read", grade: "L0" } as const;
const origin = { method: "tools/call", startedAt: T + 0.25, trace: null } as const;
const opened = (more: object = {}): HostEvent =>
  ({ type: "call.opened", at: T + 1, ...about, ...origin, ...more }) as HostEvent;
const closed = (more: object = {}): HostEvent =>
  ({
    type: "call.closed",
    at: T + 50,
    ...about,
    ...origin,
    isKnown: true,
    outcome: "completed",
    code: null,
    effect: "none",
    durationMs: 49.5,
    attempts: 1,
    ...more,
  }) as HostEvent;
const dispatched = (attempt: number): HostEvent => ({
  type: "call.dispatched",
  at: T + 2,
  callId: "c1",
  attempt,
  transport: "stdio",
  revision: "2025-11-25",
});
const attempted = (attempt: number, more: object = {}): HostEvent =>
  ({
    type: "call.attempted",
    at: T + 40,
    callId: "c1",
    attempt,
    code: null,
    rpcCode: null,
    durationMs: 30,
    ...more,
  }) as HostEvent;

function observe(options: ObserveOptions = memory) {
  const hub = createEventHub();
  const looks: string[] = [];
  const end = observeHost(
    {
      onEvent: hub.on,
      async status() {
        looks.push("status");
        const calls = { running: 2, waiting: 1 };
        return { servers: [{ name: "files", state: "ready", breaker: { state: "open" }, calls }] };
      },
      approvals: { list: async () => [{}, {}] },
    },
    options,
  );
  return { hub, end, looks, tell: (...events: HostEvent[]) => events.forEach(hub.emit) };
}

const pick = (attributes: Readonly<Record<string, unknown>>, ...names: readonly string[]) =>
  names.map((name) => attributes[name]);

describe("the span of a call", () => {
  it("lasts from its first step to its last, and says what the conventions ask for", () => {
    observe().tell(opened(), dispatched(1), attempted(1), closed());
    const [span] = memory.spans();
    expect(span).toMatchObject({
      name: "tools/call read",
      kind: SpanKind.CLIENT,
      startTime: [T / 1_000, 250_000],
      endTime: [T / 1_000, 49_750_000],
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "network.transport": "pipe",
        "mcp.protocol.version": "2025-11-25",
        "portcullis.server.name": "files",
        "portcullis.call.id": "c1",
        "portcullis.grade": "L0",
        "portcullis.outcome": "completed",
        "portcullis.effect": "none",
        "portcullis.attempts": 1,
      },
    });
    expect(JSON.stringify(span?.attributes)).not.toContain("alice");
  });

  it("a failure has its class; attempts are events; each is measured by itself", async () => {
    const failed = { code: "remote_error", rpcCode: -32_603, durationMs: 10 };
    observe().tell(
      opened(),
      dispatched(1),
      attempted(1, failed),
      dispatched(2),
      attempted(2),
      closed({ outcome: "tool_error", code: "tool_error", attempts: 2 }),
    );
    const [span] = memory.spans();
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
    expect(span?.attributes["error.type"]).toBe("tool_error");
    expect(span?.events.map(({ name }) => name)).toEqual([
      "portcullis.attempt",
      "portcullis.attempt.failed",
      "portcullis.attempt",
    ]);
    expect(span?.events[1]?.attributes).toEqual({
      "portcullis.attempt": 1,
      "error.type": "-32603",
      "rpc.response.status_code": "-32603",
    });
    const points = await memory.points("mcp.client.operation.duration");
    expect(points.map(({ attributes }) => attributes["error.type"])).toEqual(["-32603", "tool_error"]);
    const [whole] = await memory.points("portcullis.call.duration");
    expect(pick(whole?.attributes ?? {}, "portcullis.outcome", "error.type", "portcullis.grade")).toEqual([
      "tool_error",
      "tool_error",
      "L0",
    ]);
  });

  it("the wait for a person is a child, also where the answer is no", () => {
    const asked: HostEvent = { type: "call.asked", at: T + 10, callId: "c1" };
    const approved: HostEvent = { type: "call.approved", at: T + 30, callId: "c1", channel: "console" };
    const { tell } = observe();
    tell(opened(), asked, approved, closed());
    tell(opened(), asked, closed({ outcome: "refused", code: "approval_denied" }));
    const spans = memory.spans();
    expect(spans.map(({ name }) => name)).toEqual([
      "portcullis.approval",
      "tools/call read",
      "portcullis.approval",
      "tools/call read",
    ]);
    expect(spans[0]?.parentSpanContext?.spanId).toBe(spans[1]?.spanContext().spanId);
    expect(spans[0]?.attributes).toEqual({ "portcullis.approval.channel": "console" });
    expect(spans[2]?.attributes).toEqual({});
    expect(spans[3]?.attributes["error.type"]).toBe("approval_denied");
  });

  it("a call that never opened has one too, without the name that its caller made up", () => {
    observe().tell(
      closed({ isKnown: false, tool: "x".repeat(99), code: "unknown_tool", outcome: "refused" }),
    );
    const [span] = memory.spans();
    expect(span?.name).toBe("tools/call");
    expect(JSON.stringify(span?.attributes)).not.toContain("xxx");
  });

  it("what a server asks of a person is told by its kind", () => {
    const input = {
      at: T + 10,
      callId: "c1",
      server: "files",
      tool: "read",
      kind: "form",
      number: 1,
    } as const;
    observe().tell(
      opened(),
      { type: "input.asked", ...input, about: ["password"] },
      { type: "input.answered", ...input, action: "decline", by: "alice" },
      closed(),
    );
    expect(memory.spans()[0]?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ["portcullis.input.asked", { "portcullis.input.kind": "form" }],
      [
        "portcullis.input.answered",
        { "portcullis.input.kind": "form", "portcullis.input.action": "decline" },
      ],
    ]);
  });
});

describe("the trace of a call", () => {
  it("goes on from what the caller told, and servers are told of our span", () => {
    const { hub, tell } = observe();
    tell(opened({ trace: { traceparent: TRACEPARENT, tracestate: "a=1" } }));
    const told = hub.traceOf("c1");
    tell(closed());
    const [span] = memory.spans();
    const own = span?.spanContext();
    expect(own?.traceId).toBe(TRACE_ID);
    expect(span?.parentSpanContext).toMatchObject({ spanId: SPAN_ID, isRemote: true });
    expect(told).toEqual({ traceparent: `00-${TRACE_ID}-${own?.spanId}-01`, tracestate: "a=1" });
    expect(hub.traceOf("c1")).toBeUndefined();
  });

  it("a trace that the caller does not keep is not kept here either", () => {
    const { hub, tell } = observe();
    tell(opened({ trace: { traceparent: TRACEPARENT.replace(/01$/, "00") } }));
    expect(hub.traceOf("c1")?.traceparent).toMatch(/-00$/);
    tell(closed());
    expect(memory.spans()).toEqual([]);
  });

  it("the span of a program around it is the parent, or a link beside what the caller told", () => {
    const around = memory.tracerProvider.getTracer("program").startSpan("program");
    const { tell } = observe();
    within(around, () => {
      tell(opened());
      tell(closed());
      tell(opened({ trace: { traceparent: TRACEPARENT } }));
      tell(closed());
    });
    const [own, told] = memory.spans();
    expect(own?.parentSpanContext?.spanId).toBe(around.spanContext().spanId);
    expect(told?.parentSpanContext?.spanId).toBe(SPAN_ID);
    expect(told?.links.map((link) => link.context.spanId)).toEqual([around.spanContext().spanId]);
    around.end();
  });

  it("without an SDK what the caller told is told on", () => {
    const { hub, tell } = observe({});
    tell(opened());
    expect(hub.traceOf("c1")).toBeUndefined();
    tell(closed(), opened({ trace: { traceparent: TRACEPARENT } }));
    expect(hub.traceOf("c1")).toEqual({ traceparent: TRACEPARENT });
  });
});

/** Runs `work` while `span` is active. */
function within(span: Span, work: () => void): void {
  context.setGlobalContextManager(new StackContextManager().enable());
  context.with(trace.setSpan(ROOT_CONTEXT, span), work);
  context.disable();
}

describe("how things stand", () => {
  it("is looked at when metrics are collected, and not after the end", async () => {
    const { end, hub, tell, looks } = observe();
    tell({
      type: "finding.raised",
      at: 1,
      server: "files",
      tool: "read",
      callId: "c1",
      finding: { rule: "hidden.bidi", severity: "high", where: "/0", message: "the server's words" },
    });
    const server = { "portcullis.server.name": "files" };
    expect(await memory.points("portcullis.connections")).toEqual([
      { attributes: { ...server, "portcullis.connection.state": "ready" }, value: 1 },
    ]);
    expect(await memory.points("portcullis.breaker.open")).toEqual([{ attributes: server, value: 1 }]);
    expect(await memory.points("portcullis.calls.running")).toEqual([{ attributes: server, value: 2 }]);
    expect(await memory.points("portcullis.calls.waiting")).toEqual([{ attributes: server, value: 1 }]);
    expect(await memory.points("portcullis.approvals.waiting")).toEqual([{ attributes: {}, value: 2 }]);
    expect(await memory.points("portcullis.findings")).toEqual([
      {
        attributes: {
          ...server,
          "portcullis.finding.rule": "hidden.bidi",
          "portcullis.finding.severity": "high",
        },
        value: 1,
      },
    ]);
    tell(opened());
    end();
    expect(memory.spans()).toHaveLength(1);
    expect(hub.hearsCalls()).toBe(false);
    looks.length = 0;
    await memory.points("portcullis.connections");
    expect(looks).toEqual([]);
  });
});
