import { describe, expect, it } from "vitest";
import {
  isReservedMetaKey,
  isValidMetaKey,
  readServerInfo,
  readTrace,
  traceMembers,
} from "../../../src/wire/meta.ts";

describe("_meta keys", () => {
  it("are reserved by their second label [META-11]", () => {
    const reserved = [
      "io.modelcontextprotocol/x",
      "dev.mcp/x",
      "com.mcp.tools/x",
      "progressToken",
      "traceparent",
    ];
    const free = ["com.example.mcp/x", "mcp/x", "com.example/x", "plain", "modelcontextprotocol.io/x"];
    expect(reserved.filter(isReservedMetaKey)).toEqual(reserved);
    expect(free.filter(isReservedMetaKey)).toEqual([]);
  });

  it("have the form that the specification asks for [META-10]", () => {
    const good = ["a", "a.b_c-d", "com.example/a", "x1/y"];
    const bad = ["", "/a", "1x/a", "a-/b", "a/", "a/-b", "a/b-", "é/a", "a b"];
    expect(good.filter(isValidMetaKey)).toEqual(good);
    expect(bad.filter(isValidMetaKey)).toEqual([]);
  });
});

describe("trace context", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it("is sent in W3C form and not otherwise [META-13] [META-14]", () => {
    expect(traceMembers({ traceparent, tracestate: "a=1", baggage: "k=v" })).toEqual({
      traceparent,
      tracestate: "a=1",
      baggage: "k=v",
    });
    expect(traceMembers({ traceparent: traceparent.toUpperCase() })).toEqual({});
    expect(traceMembers({ traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` })).toEqual({});
    expect(traceMembers({ traceparent: `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01` })).toEqual(
      {},
    );
    expect(traceMembers({ tracestate: "a=1" })).toEqual({});
    expect(traceMembers({ traceparent, tracestate: "a\n", baggage: "x".repeat(9_000) })).toEqual({
      traceparent,
    });
  });

  it("is read back", () => {
    expect(readTrace({ traceparent, tracestate: 3 } as never)).toEqual({ traceparent });
    expect(readTrace(undefined)).toEqual({});
  });
});

describe("serverInfo", () => {
  it("is found in _meta and at the top level, _meta first [RPC-14]", () => {
    const top = { name: "top", version: "1" };
    const inMeta = { name: "meta", version: "2" };
    expect(readServerInfo({ serverInfo: top })).toEqual(top);
    expect(
      readServerInfo({ serverInfo: top, _meta: { "io.modelcontextprotocol/serverInfo": inMeta } }),
    ).toEqual(inMeta);
    expect(readServerInfo({ serverInfo: { version: "1" } })).toBeUndefined();
    expect(readServerInfo({})).toBeUndefined();
  });
});
