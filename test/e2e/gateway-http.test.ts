/** `/mcp` over real sockets with raw requests, modern era and what both share, on a real host. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  ledgerLine,
  modern,
  nextEvents,
  openBench,
  readAll,
  REVISION,
  send,
  start,
  type GatewayBench,
  type RawRequest,
} from "../support/gateway-kit.ts";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench.close());

const result = (answer: { readonly json: JsonObject }): JsonObject => answer.json["result"] as JsonObject;
const code = (answer: { readonly json: JsonObject }): unknown =>
  (answer.json["error"] as JsonObject | undefined)?.["code"];

describe("modern", () => {
  it("server/discover says what is spoken and offered [GW-01]", async () => {
    const answer = await send(bench, modern("server/discover"));
    expect(answer.status).toBe(200);
    expect(result(answer)).toMatchObject({
      resultType: "complete",
      supportedVersions: expect.arrayContaining([REVISION, "2025-11-25"]),
      capabilities: { tools: { listChanged: true } },
      ttlMs: expect.any(Number),
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "portcullis" } },
    });
  });

  it("tools/list is in a fixed order and says how long it may be kept [GW-05, GW-06, GW-07]", async () => {
    const answer = await send(bench, modern("tools/list"));
    const names = (result(answer)["tools"] as JsonObject[]).map((tool) => tool["name"] as string);
    expect(names).toEqual([...names].sort());
    expect(names).toContain("peer__echo");
    expect(result(answer)).toMatchObject({
      resultType: "complete",
      ttlMs: expect.any(Number),
      cacheScope: "private",
    });
    const again = await send(bench, modern("tools/list"));
    expect(result(again)["tools"]).toEqual(result(answer)["tools"]);
  });

  it("tools/call answers with the model's channel and facts for programs", async () => {
    const answer = await send(
      bench,
      modern("tools/call", { name: "peer__echo", arguments: { text: "hello" } }),
    );
    expect(answer.status).toBe(200);
    const { content, isError, _meta } = result(answer) as {
      content: { text: string }[];
      isError?: boolean;
      _meta: JsonObject;
    };
    expect(content).toHaveLength(1);
    expect(content[0]?.text).toMatch(/<untrusted [0-9a-f]+>\nhello\n/);
    expect(isError).toBeUndefined();
    expect(_meta["portcullis/outcome"]).toMatchObject({
      outcome: "completed",
      code: null,
      effect: "none",
      grade: "L0",
    });
  });

  it("pictures pass as they passed intake, structured output where it fits", async () => {
    const picture = await send(bench, modern("tools/call", { name: "peer__picture" }));
    expect(result(picture)["content"]).toMatchObject([
      { type: "text" },
      { type: "image", mimeType: "image/png" },
    ]);
    const fits = await send(bench, modern("tools/call", { name: "peer__fits" }));
    expect(result(fits)["structuredContent"]).toEqual({ count: 3 });
    const list = await send(bench, modern("tools/call", { name: "peer__list" }));
    expect(result(list)["structuredContent"]).toEqual([1, 2]);
  });

  it.each(["peer__misfits", "peer__forgets", "peer__attack"])(
    "%s: no structured output that a client would choke on, and marked",
    async (name) => {
      const answer = await send(bench, modern("tools/call", { name }));
      expect(result(answer)["isError"]).toBe(true);
      expect(result(answer)).not.toHaveProperty("structuredContent");
    },
  );

  it("what is held back is in no part of the answer", async () => {
    const answer = await send(bench, modern("tools/call", { name: "peer__attack" }));
    expect(answer.text).not.toContain("evil.example");
    expect(answer.text).toContain("held back");
  });

  it("a tool's own error, wrong arguments and an unknown tool", async () => {
    const failed = await send(bench, modern("tools/call", { name: "peer__fail" }));
    expect(result(failed)).toMatchObject({
      isError: true,
      _meta: { "portcullis/outcome": { code: "tool_error" } },
    });
    const wrong = await send(bench, modern("tools/call", { name: "peer__echo", arguments: { text: 5 } }));
    expect(result(wrong)["isError"]).toBe(true);
    expect(JSON.stringify(result(wrong)["content"])).toContain("text");
    const unknown = await send(bench, modern("tools/call", { name: "peer__ecko", arguments: {} }));
    expect(unknown.status).toBe(200);
    expect(code(unknown)).toBe(-32602);
    expect(JSON.stringify(unknown.json)).toContain("peer__echo");
  });

  it("progress turns the answer into an event stream, in order, under the caller's token", async () => {
    const answer = await send(
      bench,
      modern(
        "tools/call",
        { name: "peer__steps", arguments: { steps: 3 } },
        { id: "a", meta: { progressToken: "p" } },
      ),
    );
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    expect(answer.events.slice(0, -1).map((event) => event["params"])).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: "p", progress, total: 3, message: `step ${progress}` })),
    );
    expect(answer.events.at(-1)).toMatchObject({ id: "a", result: { resultType: "complete" } });
  });

  it("without a token, or to a client that takes JSON only, there is no progress", async () => {
    const call = { name: "peer__steps", arguments: { steps: 2 } };
    expect((await send(bench, modern("tools/call", call))).headers["content-type"]).toBe("application/json");
    const json = await send(
      bench,
      modern("tools/call", call, { headers: { accept: "application/json" }, meta: { progressToken: 1 } }),
    );
    expect(json.headers["content-type"]).toBe("application/json");
  });

  it("a client that leaves takes its call back, up to the server [GW-19]", async () => {
    const { request } = await startUnanswered(
      modern("tools/call", { name: "peer__wait", arguments: { ms: 600_000 } }),
    );
    await ledgerLine(bench, (line) => line["tool"] === "wait");
    request.destroy();
    await ledgerLine(bench, (line) => line["cancelled"] !== undefined);
  });

  it("subscriptions/listen: acknowledged first, tagged, only what was asked for, a result at the end [GW-20]", async () => {
    const own = await openBench();
    try {
      await send(own, modern("tools/list"));
      const asked = { notifications: { toolsListChanged: true, sandwichesListChanged: true } };
      const { response } = await start(own, modern("subscriptions/listen", asked, { id: 7 }));
      const stream = nextEvents(response, 2);
      await send(own, modern("tools/call", { name: "peer__grow" }));
      const [first, second] = await stream;
      expect(first).toMatchObject({
        method: "notifications/subscriptions/acknowledged",
        params: {
          notifications: { toolsListChanged: true },
          _meta: { "io.modelcontextprotocol/subscriptionId": 7 },
        },
      });
      expect(first?.["params"]).not.toHaveProperty("notifications.sandwichesListChanged");
      expect(second).toMatchObject({
        method: "notifications/tools/list_changed",
        params: { _meta: { "io.modelcontextprotocol/subscriptionId": 7 } },
      });
      own.gateway.drain();
      const last = (await readAll(response)).events.at(-1);
      expect(last).toMatchObject({
        id: 7,
        result: { _meta: { "io.modelcontextprotocol/subscriptionId": 7 } },
      });
    } finally {
      await own.close();
    }
  });

  it("a mirrored argument must come as a header, and agree [GW-03]", async () => {
    const call = { name: "peer__route", arguments: { region: "Zürich" } };
    const encoded = `=?base64?${Buffer.from("Zürich").toString("base64")}?=`;
    const right = await send(bench, modern("tools/call", call, { headers: { "mcp-param-region": encoded } }));
    expect(right.status).toBe(200);
    for (const headers of [
      {},
      { "mcp-param-region": "Bern" },
      { "mcp-param-region": encoded, "mcp-param-other": "x" },
    ]) {
      const wrong = await send(bench, modern("tools/call", call, { headers }));
      expect([wrong.status, code(wrong)]).toEqual([400, -32020]);
    }
  });
});

const inBase64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe("the order of checks of a modern POST [GW-03, GW-04, HTTP-34]", () => {
  const noMeta = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const versions = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  it.each<[string, RawRequest, number, number]>([
    [
      "no version header",
      modern("tools/list", {}, { headers: { "mcp-protocol-version": undefined } }),
      400,
      -32020,
    ],
    ["neither header nor _meta", { body: noMeta }, 400, -32020],
    [
      "no _meta",
      { headers: { "mcp-protocol-version": REVISION, "mcp-method": "tools/list" }, body: noMeta },
      400,
      -32602,
    ],
    [
      "header and _meta differ",
      modern("tools/list", {}, { headers: { "mcp-protocol-version": "2025-11-25" } }),
      400,
      -32020,
    ],
    [
      "a version that nobody knows",
      modern("tools/list", {}, { headers: { "mcp-protocol-version": "2099-01-01" }, meta: versions }),
      400,
      -32022,
    ],
    ["no Mcp-Method", modern("tools/list", {}, { headers: { "mcp-method": undefined } }), 400, -32020],
    [
      "another Mcp-Method",
      modern("tools/list", {}, { headers: { "mcp-method": "tools/List" } }),
      400,
      -32020,
    ],
    [
      "no Mcp-Name",
      modern("tools/call", { name: "peer__echo" }, { headers: { "mcp-name": undefined } }),
      400,
      -32020,
    ],
    [
      "another Mcp-Name",
      modern("tools/call", { name: "peer__echo" }, { headers: { "mcp-name": "peer__write" } }),
      400,
      -32020,
    ],
    [
      "an Mcp-Name that is no Base64",
      modern("tools/call", { name: "peer__echo" }, { headers: { "mcp-name": "=?base64?cGVlcl9fZWNobw?=" } }),
      400,
      -32020,
    ],
    [
      "an Mcp-Name that is another one in Base64",
      modern("tools/call", { name: "peer__echo" }, { headers: { "mcp-name": inBase64("peer__write") } }),
      400,
      -32020,
    ],
    ["an unknown method", modern("resources/subscribe"), 404, -32601],
    ["a modern-framed initialize", modern("initialize"), 404, -32601],
    [
      "a modern-framed ping, with a stray session",
      modern("ping", {}, { headers: { "mcp-session-id": "x" } }),
      404,
      -32601,
    ],
    ["no name", modern("tools/call", {}), 200, -32602],
    [
      "arguments that are no object",
      modern("tools/call", { name: "peer__echo", arguments: [] }),
      200,
      -32602,
    ],
    ["a cursor of somebody else", modern("tools/list", { cursor: "zzz" }), 200, -32602],
    ["not JSON", { body: "{" }, 400, -32700],
    ["not a message", { body: '{"a":1}' }, 400, -32600],
    ["an answer", { body: { jsonrpc: "2.0", id: 1, result: {} } }, 400, -32600],
    [
      "nested too deeply",
      { body: `{"jsonrpc":"2.0","id":1,"method":"x","params":${"[".repeat(400)}${"]".repeat(400)}}` },
      400,
      -32600,
    ],
    ["a batch", { body: [noMeta, noMeta] }, 400, -32600],
  ])("%s", async (_name, request, status, rpcCode) => {
    const answer = await send(bench, request);
    expect([answer.status, code(answer)]).toEqual([status, rpcCode]);
  });

  it("what is encoded is compared after it was decoded", async () => {
    const headers = { "mcp-name": inBase64("peer__echo") };
    const call = modern("tools/call", { name: "peer__echo", arguments: { text: "a" } }, { headers });
    expect((await send(bench, call)).status).toBe(200);
  });

  it("the refusal of a version names those that are spoken [GW-21]", async () => {
    const answer = await send(
      bench,
      modern("tools/list", {}, { headers: { "mcp-protocol-version": "2099-01-01" }, meta: versions }),
    );
    expect((answer.json["error"] as JsonObject)["data"]).toMatchObject({
      supported: expect.arrayContaining([REVISION, "2025-11-25"]),
      requested: "2099-01-01",
    });
  });
});

describe("what HTTP itself refuses", () => {
  it.each<[string, RawRequest, number]>([
    ["another content type", { headers: { "content-type": "text/plain" }, body: "{}" }, 415],
    ["a packed body", { headers: { "content-encoding": "gzip" }, body: "{}" }, 415],
    ["a client that takes neither JSON nor events", { headers: { accept: "text/html" }, body: "{}" }, 406],
    ["another method", { method: "PUT", body: "{}" }, 405],
    ["a cross-origin question", { method: "OPTIONS", headers: { origin: "https://evil.example" } }, 403],
    ["GET without a session", { method: "GET" }, 405],
    ["DELETE without a session", { method: "DELETE" }, 405],
    ["a body over 4 MiB", { body: `{"a":"${"x".repeat(4 * 1024 * 1024)}"}` }, 413],
  ])("%s", async (_name, request, status) => {
    const answer = await send(bench, request);
    expect(answer.status).toBe(status);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

/** A request whose answer does not come soon. */
async function startUnanswered(raw: RawRequest) {
  const { request: httpRequest } = await import("node:http");
  const request = httpRequest(`${bench.gateway.url}/mcp`, {
    method: "POST",
    agent: false,
    headers: {
      authorization: `Bearer ${bench.gateway.tokens.mcp}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(raw.headers as Record<string, string>),
    },
  });
  request.on("error", () => undefined);
  request.end(JSON.stringify(raw.body));
  return { request };
}
