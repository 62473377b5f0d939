/** `/mcp` over real sockets with raw requests, legacy era, on a real host. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  initialize,
  ledgerLine,
  legacy,
  nextEvents,
  openBench,
  readAll,
  REVISION,
  send,
  start,
  type GatewayBench,
} from "../support/gateway-kit.ts";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench.close());

const result = (answer: { readonly json: JsonObject }): JsonObject => answer.json["result"] as JsonObject;
const code = (answer: { readonly json: JsonObject }): unknown =>
  (answer.json["error"] as JsonObject | undefined)?.["code"];

describe("legacy", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "%s: initialize, list, call",
    async (version) => {
      const session = await initialize(bench, version);
      const headers = { "mcp-session-id": session };
      const notification = { jsonrpc: "2.0", method: "notifications/initialized" } as const;
      expect((await send(bench, { headers, body: notification })).status).toBe(202);
      const list = await send(bench, { headers, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
      const tools = result(list)["tools"] as JsonObject[];
      expect(tools.map((tool) => tool["name"])).toContain("peer__echo");
      // Neither a resultType nor a schema that only the modern era knows, nor tasks that nobody answers.
      expect(result(list)).not.toHaveProperty("resultType");
      expect(tools.find((tool) => tool["name"] === "peer__list")).not.toHaveProperty("outputSchema");
      expect(tools.find((tool) => tool["name"] === "peer__wait")).not.toHaveProperty("execution");
      const call = { name: "peer__echo", arguments: { text: "old" } };
      const answer = await send(bench, {
        headers,
        body: { jsonrpc: "2.0", id: "x", method: "tools/call", params: call },
      });
      expect(answer.json["id"]).toBe("x");
      expect(JSON.stringify(result(answer)["content"])).toContain("old");
    },
  );

  it("an unknown version is answered with the newest, a modern one too", async () => {
    for (const protocolVersion of ["1999-01-01", REVISION]) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
      const answer = await send(bench, { body: { jsonrpc: "2.0", id: 0, method: "initialize", params } });
      expect(result(answer)["protocolVersion"]).toBe("2025-11-25");
    }
  });

  it("lists and other structured output stay out, because clients take objects only", async () => {
    const session = await initialize(bench);
    const list = await send(bench, legacy(session, "tools/call", { name: "peer__list" }));
    expect(result(list)).not.toHaveProperty("structuredContent");
    expect(result(list)["isError"]).toBeUndefined();
  });

  it("ping, logging/setLevel, and -32601 for what was not declared", async () => {
    const session = await initialize(bench);
    expect(result(await send(bench, legacy(session, "ping")))).toEqual({});
    expect(result(await send(bench, legacy(session, "logging/setLevel", { level: "debug" })))).toEqual({});
    expect(code(await send(bench, legacy(session, "logging/setLevel", { level: "loud" })))).toBe(-32602);
    for (const method of ["tasks/list", "server/discover", "subscriptions/listen"]) {
      const answer = await send(bench, legacy(session, method));
      expect([answer.status, code(answer)]).toEqual([200, -32601]);
    }
  });

  it("a session that is unknown or over is 404, so that the client begins anew [GW-22, HTTPL-04]", async () => {
    expect((await send(bench, legacy("nonsense", "tools/list"))).status).toBe(404);
    const session = await initialize(bench);
    const headers = { "mcp-session-id": session };
    expect((await send(bench, { method: "DELETE", headers })).status).toBe(200);
    expect((await send(bench, legacy(session, "tools/list"))).status).toBe(404);
    expect((await send(bench, { method: "DELETE", headers })).status).toBe(404);
    expect((await send(bench, { method: "GET", headers })).status).toBe(404);
  });

  it("a version header that is none of a session is refused", async () => {
    const session = await initialize(bench);
    const request = legacy(session, "tools/list");
    const answer = await send(bench, {
      ...request,
      headers: { ...request.headers, "mcp-protocol-version": "2099-01-01" },
    });
    expect(answer.status).toBe(400);
  });

  it("notifications/cancelled ends the call, and nothing is answered", async () => {
    const session = await initialize(bench);
    const pending = start(
      bench,
      legacy(session, "tools/call", { name: "peer__wait", arguments: { ms: 333_333 } }, "w1"),
    );
    await ledgerLine(bench, (line) => (line["args"] as JsonObject | undefined)?.["ms"] === 333_333);
    const cancel = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "w1" },
    } as const;
    expect((await send(bench, { headers: { "mcp-session-id": session }, body: cancel })).status).toBe(202);
    const { response } = await pending;
    expect((await readAll(response)).text).toBe("");
  });

  it("the end of a session ends what runs in it", async () => {
    const session = await initialize(bench);
    const pending = start(
      bench,
      legacy(session, "tools/call", { name: "peer__wait", arguments: { ms: 555_555 } }, 5),
    );
    await ledgerLine(bench, (line) => (line["args"] as JsonObject | undefined)?.["ms"] === 555_555);
    await send(bench, { method: "DELETE", headers: { "mcp-session-id": session } });
    const { response } = await pending;
    expect(result(await readAll(response))).toMatchObject({
      isError: true,
      _meta: { "portcullis/outcome": { outcome: "cancelled" } },
    });
  });

  it("an id that is running may not be used again", async () => {
    const session = await initialize(bench);
    const request = legacy(session, "tools/call", { name: "peer__wait", arguments: { ms: 444_444 } }, 9);
    const first = start(bench, request);
    await ledgerLine(bench, (line) => (line["args"] as JsonObject | undefined)?.["ms"] === 444_444);
    expect(code(await send(bench, legacy(session, "ping", {}, 9)))).toBe(-32600);
    await send(bench, { method: "DELETE", headers: { "mcp-session-id": session } });
    await readAll((await first).response);
  });

  it("batches are for 2025-03-26 alone", async () => {
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "peer__echo", arguments: { text: "b" } },
      },
    ] as const;
    const old = await send(bench, {
      headers: { "mcp-session-id": await initialize(bench, "2025-03-26") },
      body: batch,
    });
    expect((old.json as unknown as JsonObject[]).map((item) => item["id"])).toEqual([1, 2]);
    const young = await send(bench, { headers: { "mcp-session-id": await initialize(bench) }, body: batch });
    expect(young.status).toBe(400);
  });

  it("the GET stream tells that the list changed; a newer stream takes over [HTTPL-07]", async () => {
    const own = await openBench();
    try {
      const session = await initialize(own);
      await send(own, legacy(session, "tools/list"));
      const headers = { "mcp-session-id": session };
      const older = await start(own, { method: "GET", headers });
      const newer = await start(own, { method: "GET", headers });
      expect((await readAll(older.response)).events).toEqual([]);
      const stream = nextEvents(newer.response, 1);
      await send(own, legacy(session, "tools/call", { name: "peer__grow" }));
      expect(await stream).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
      newer.request.destroy();
    } finally {
      await own.close();
    }
  });
});
