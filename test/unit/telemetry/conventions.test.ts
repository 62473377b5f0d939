import { describe, expect, it } from "vitest";
import {
  callAttributes,
  errorAttributes,
  spanNameOf,
  wireAttributes,
  type CallFacts,
} from "../../../src/telemetry/conventions.ts";
import { readTraceParent, writeTraceParent } from "../../../src/telemetry/trace-parent.ts";

const call = (more: Partial<CallFacts> = {}): CallFacts => ({
  method: "tools/call",
  server: "files",
  tool: "read",
  isKnown: true,
  ...more,
});

describe("the name of a span, and what calls have in common", () => {
  it.each([
    [
      "a tool",
      call(),
      "tools/call read",
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "portcullis.server.name": "files",
      },
    ],
    [
      "a name that a model made up",
      call({ tool: "anything at all", server: "", isKnown: false }),
      "tools/call",
      { "gen_ai.operation.name": "execute_tool" },
    ],
    [
      "a resource",
      call({ method: "resources/read", tool: "resources/read" }),
      "resources/read",
      { "portcullis.server.name": "files" },
    ],
  ] satisfies [string, CallFacts, string, object][])("%s", (_what, facts, name, attributes) => {
    expect(spanNameOf(facts)).toBe(name);
    expect(callAttributes(facts)).toEqual({ "mcp.method.name": facts.method, ...attributes });
  });

  it("a long name of a tool is cut", () => {
    expect(String(callAttributes(call({ tool: "x".repeat(1_000) }))["gen_ai.tool.name"])).toHaveLength(128);
  });
});

describe("how it went", () => {
  it.each([
    [null, null, {}],
    ["timed_out", null, { "error.type": "timed_out" }],
    ["tool_error", null, { "error.type": "tool_error" }],
    ["remote_error", -32_603, { "error.type": "-32603", "rpc.response.status_code": "-32603" }],
    ["remote_error", 4_711, { "error.type": "_OTHER", "rpc.response.status_code": "_OTHER" }],
    ["remote_error", -32_000.5, { "error.type": "_OTHER", "rpc.response.status_code": "_OTHER" }],
  ] as const)("%s with %s", (code, rpcCode, expected) => {
    expect(errorAttributes(code, rpcCode)).toEqual(expected);
  });

  it("pipes and sockets", () => {
    expect(wireAttributes("stdio", "2025-11-25")).toEqual({
      "network.transport": "pipe",
      "mcp.protocol.version": "2025-11-25",
    });
    expect(wireAttributes("http", "2026-07-28")).toEqual({
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "mcp.protocol.version": "2026-07-28",
    });
  });
});

describe("traceparent", () => {
  const text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it("is read and written", () => {
    const parts = readTraceParent(text);
    expect(parts).toEqual({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      traceFlags: 1,
    });
    expect(parts && writeTraceParent(parts)).toBe(text);
  });

  it.each([undefined, "", "mine", text.toUpperCase(), `${text}-00`, text.replace("00-", "ff-"), ` ${text}`])(
    "%s has not the form",
    (other) => {
      expect(readTraceParent(other)).toBeUndefined();
    },
  );
});
