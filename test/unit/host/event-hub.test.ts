import { describe, expect, it } from "vitest";
import { createEventHub } from "../../../src/host/event-hub.ts";

describe("the events of a host", () => {
  it("those of single calls are made only while somebody listens to calls", () => {
    const hub = createEventHub();
    expect(hub.hearsCalls()).toBe(false);
    const off = hub.on(() => undefined);
    hub.on(() => undefined, { calls: false });
    expect(hub.hearsCalls()).toBe(true);
    off();
    off();
    expect(hub.hearsCalls()).toBe(false);
  });

  it("the trace of a call is what the last listener says that keeps traces, as long as it listens", () => {
    const hub = createEventHub();
    expect(hub.traceOf("a")).toBeUndefined();
    hub.on(() => undefined, { trace: (callId) => ({ traceparent: `first ${callId}` }) });
    const off = hub.on(() => undefined, { trace: (callId) => ({ traceparent: `second ${callId}` }) });
    expect(hub.traceOf("a")).toEqual({ traceparent: "second a" });
    off();
    expect(hub.traceOf("a")).toEqual({ traceparent: "first a" });
    hub.on(() => undefined, {
      trace: () => {
        throw new Error("no");
      },
    });
    expect(hub.traceOf("a")).toBeUndefined();
  });
});
