import { describe, expect, it } from "vitest";
import type { JsonRpcMessage } from "../../../src/protocol/jsonrpc.ts";
import type { HttpResponse } from "../../../src/transport/http-port.ts";
import { createHttpSession } from "../../../src/transport/session.ts";

async function* nothing(): AsyncGenerator<Uint8Array> {}

const withId = (id: string): HttpResponse => ({
  status: 200,
  headers: { "mcp-session-id": id },
  body: nothing(),
});
const initialize: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
const call: JsonRpcMessage = { jsonrpc: "2.0", id: 2, method: "tools/call", params: {} };
const modern: JsonRpcMessage = {
  jsonrpc: "2.0",
  id: 3,
  method: "server/discover",
  params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
};

describe("createHttpSession", () => {
  it("sends id and revision on everything after the handshake [HTTPL-01] [HTTPL-02] [HTTPL-03]", () => {
    const session = createHttpSession();
    expect(session.headersFor(initialize)).toEqual({});
    expect(session.accept(withId("s-1"))).toBe(true);
    session.settle({ era: "legacy", revision: "2025-11-25" });
    const expected = { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "s-1" };
    expect(session.headersFor(call)).toEqual(expected);
    expect(session.headersFor({ jsonrpc: "2.0", method: "notifications/initialized" })).toEqual(expected);
    expect(session.headersFor({ jsonrpc: "2.0", id: 1, result: {} })).toEqual(expected);
    expect(session.streamHeaders()).toEqual(expected);
  });

  it.each(["2024-11-05", "2025-03-26"] as const)("knows no revision header in %s", (revision) => {
    const session = createHttpSession();
    session.settle({ era: "legacy", revision });
    expect(session.headersFor(call)).toEqual({});
  });

  it("takes the revision of a modern message from the message, and gives it no session [HTTP-08] [HTTP-09] [HTTP-36]", () => {
    const session = createHttpSession();
    session.accept(withId("s-1"));
    expect(session.headersFor(modern)).toEqual({ "mcp-protocol-version": "2026-07-28" });
    session.settle({ era: "modern", revision: "2026-07-28" });
    expect(session.headersFor(call)).toEqual({ "mcp-protocol-version": "2026-07-28" });
  });

  it("starts a handshake without the old id [HTTPL-04]", () => {
    const session = createHttpSession();
    session.accept(withId("s-1"));
    session.lose("s-1");
    expect(session.idFor(call)).toBe("s-1");
    expect(session.openId()).toBeUndefined();
    expect(session.idFor(initialize)).toBeUndefined();
    session.forget();
    expect(session.idFor(call)).toBeUndefined();
    session.accept(withId("s-2"));
    session.lose("s-1");
    expect(session.openId()).toBe("s-2");
  });

  it.each(["", "a b", "a\r\nb", "a\tb", "é", "x".repeat(1025)])(
    "does not take the id %j [HTTPL-06] [SEC-24]",
    (id) => {
      const session = createHttpSession();
      expect(session.accept(withId(id))).toBe(false);
      expect(session.idFor(call)).toBeUndefined();
    },
  );
});
