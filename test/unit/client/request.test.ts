/** Requests and what their answers become. */
import { describe, expect, it } from "vitest";
import { connectLegacy, connectModern, errorOf, lastId, lastParams } from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

describe("a request on a modern stream", () => {
  it("carries the envelope and a new id each time [BASE-04] [META-01] [VER-01]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT), {
      capabilities: { extensions: { "com.example/x": {} } },
    });
    await Promise.all([
      client.callTool("a", {}),
      client.callTool("b", {}),
      client.request("resources/read", { uri: "x:/" }),
    ]);
    const ids = transport.sent.map(({ message }) => (message as { id: number }).id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { message } of transport.sent) {
      expect((message as { params: { _meta: object } }).params._meta).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { extensions: { "com.example/x": {} } },
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      });
    }
    await client.close();
  });

  it("can speak for somebody else, trace, opt in to logs, and bring further meta [META-16]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT), {
      capabilities: { experimental: {} },
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await client.callTool(
      "a",
      {},
      {
        clientCapabilities: { sampling: {} },
        trace: { traceparent },
        logLevel: "info",
        meta: { "com.example/x": 1 },
      },
    );
    expect(lastParams(transport, "tools/call")["_meta"]).toEqual({
      "com.example/x": 1,
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/logLevel": "info",
      traceparent,
      progressToken: lastId(transport, "tools/call"),
    });
    await client.close();
  });

  it("has no log level before it was asked for, and on every request after", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT));
    await client.callTool("a", {});
    expect(lastParams(transport, "tools/call")["_meta"]).not.toHaveProperty(
      "io.modelcontextprotocol/logLevel",
    );
    await client.setLogLevel("warning");
    await client.callTool("a", {});
    expect(lastParams(transport, "tools/call")["_meta"]).toMatchObject({
      "io.modelcontextprotocol/logLevel": "warning",
    });
    expect(transport.sentOf("logging/setLevel")).toEqual([]);
    await client.close();
  });

  it("resolves with isError as the tool's own failure", async () => {
    const { client } = await connectModern((request, far) =>
      far.answer(request.id, { ...TEXT, isError: true }),
    );
    expect(await client.callTool("a", {})).toMatchObject({ isError: true });
    await client.close();
  });

  it("accepts a result without a type and counts it [BASE-10]", async () => {
    const { client } = await connectModern((request, far) => far.answer(request.id, { content: [] }));
    expect(await client.callTool("a", {})).toEqual({ content: [] });
    expect(client.oddities()).toEqual({ "result.no-type": 1 });
    await client.close();
  });

  it("refuses a result of an unknown type and a task that nobody asked for [BASE-08] [BASE-09]", async () => {
    for (const resultType of ["later", "task"]) {
      const { client } = await connectModern((request, far) =>
        far.answer(request.id, { resultType, taskId: "t", status: "working" }),
      );
      const error = await errorOf(client.callTool("a", {}));
      expect(error.code).toBe("protocol_error");
      expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false });
      await client.close();
    }
  });
});

describe("errors of the server", () => {
  const rows: readonly (readonly [number, string, string, boolean])[] = [
    [-32602, "tools/call", "invalid_arguments", true],
    [-32602, "resources/read", "remote_error", true],
    [-32601, "tools/call", "remote_error", true],
    [-32603, "tools/call", "remote_error", false],
    [-32000, "tools/call", "remote_error", false],
    [-32002, "resources/read", "remote_error", false],
    [-32021, "tools/call", "incompatible", true],
    [-32020, "tools/call", "protocol_error", true],
  ];
  for (const [code, method, expected, provesNoEffect] of rows) {
    it(`${code} to ${method} is ${expected}, ${provesNoEffect ? "without" : "perhaps with an"} effect [BASE-12]`, async () => {
      const { client } = await connectModern((request, far) =>
        far.answerError(request.id, code, "no\u001b[31m", { uri: "x" }),
      );
      const error = await errorOf(client.request(method, { name: "a", uri: "x" }));
      expect(error.code).toBe(expected);
      expect(error.data).toMatchObject({ wasSent: true, provesNoEffect, rpc: { code, data: { uri: "x" } } });
      expect(JSON.stringify(error.data)).not.toContain("\\u001b");
      expect(error.message).not.toContain("\u001b");
      await client.close();
    });
  }

  it("are cut: neither message nor data is unbounded", async () => {
    const { client } = await connectModern((request, far) =>
      far.answerError(request.id, -32000, "x".repeat(1e6), "y".repeat(1e6)),
    );
    const error = await errorOf(client.callTool("a", {}));
    expect(error.message.length).toBeLessThan(400);
    expect(JSON.stringify(error.data).length).toBeLessThan(2_000);
    await client.close();
  });

  it("-32022 with a common version is sent once more, at any grade [VER-02]", async () => {
    let calls = 0;
    const { client, transport } = await connectModern((request, far) => {
      calls += 1;
      if (calls === 1) far.answerError(request.id, -32022, "no", { supported: ["2026-07-28"] });
      else far.answer(request.id, TEXT);
    });
    await client.callTool("a", {});
    const ids = transport.sentOf("tools/call").map(({ message }) => (message as { id: number }).id);
    expect(ids).toHaveLength(2);
    expect(ids[0]).not.toBe(ids[1]);
    await client.close();
  });

  it("-32022 without one, or twice, is incompatible", async () => {
    const { client, transport } = await connectModern((request, far) =>
      far.answerError(request.id, -32022, "no", {
        supported: transport.sentOf("tools/call").length > 1 ? [] : ["2026-07-28"],
      }),
    );
    expect((await errorOf(client.callTool("a", {}))).code).toBe("incompatible");
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await client.close();
  });
});

describe("heartbeat", () => {
  it("is discover in the modern era and ping in the legacy one; an error is life", async () => {
    const modern = await connectModern((request, far) => far.answerError(request.id, -32603));
    expect(await modern.client.heartbeat()).toBe(0);
    expect(modern.transport.sentOf("server/discover")).toHaveLength(2);
    await modern.client.close();
    const legacy = await connectLegacy((request, far) => far.answer(request.id, {}));
    await legacy.client.heartbeat();
    expect(legacy.transport.sentOf("ping")).toHaveLength(1);
    await legacy.client.close();
  });

  it("fails where nothing is answered, or its signal ends it", async () => {
    const { client, clock } = await connectLegacy();
    const failed = errorOf(client.heartbeat());
    await clock.advance(30_000);
    expect((await failed).code).toBe("timed_out");
    await client.close();
  });
});

describe("typed requests", () => {
  it("make sure of the frame of a result and keep the rest", async () => {
    const { client } = await connectModern((request, far) =>
      far.answer(request.id, {
        resultType: "complete",
        content: "x",
        contents: [null, { uri: "a" }],
        messages: [{ role: "user", content: { type: "new-kind" } }, { role: "user" }],
        isError: "yes",
        extra: 1,
      }),
    );
    expect(await client.callTool("a", {})).toEqual(expect.objectContaining({ content: [], extra: 1 }));
    expect(await client.callTool("a", {})).not.toHaveProperty("isError");
    expect((await client.readResource("x:/")).contents).toEqual([{ uri: "a" }]);
    expect((await client.getPrompt("p", {})).messages).toEqual([
      { role: "user", content: { type: "new-kind" } },
    ]);
    await client.close();
  });

  it("complete with what is there [RPC-10] [RPC-12]", async () => {
    const { client, transport } = await connectModern((request, far) =>
      far.answer(request.id, {
        resultType: "complete",
        completion: {
          values: ["a", 3, ...Array.from({ length: 200 }, () => "b")],
          total: 500,
          hasMore: true,
        },
      }),
    );
    const params = {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "x", value: "a" },
      context: { arguments: { y: "1" } },
    } as const;
    const completion = await client.complete(params);
    expect(completion.values).toHaveLength(100);
    expect(completion).toMatchObject({ total: 500, hasMore: true });
    expect(lastParams(transport, "completion/complete")).toMatchObject(params);
    await client.close();
  });

  it("ask nothing that the server does not offer [BASE-20] [RPC-07]", async () => {
    const { client, transport } = await connectModern(() => undefined, { serverCapabilities: {} });
    expect((await client.list("tools")).items).toEqual([]);
    expect(
      await client.complete({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } }),
    ).toEqual({ values: [] });
    await client.setLogLevel("debug");
    expect(transport.sent).toHaveLength(1);
    await client.close();
  });

  it("set the log level of a legacy server, pass its logs on, and nothing that is none [DEP-19]", async () => {
    const { client, transport, events } = await connectLegacy((request, far) => far.answer(request.id, {}));
    await client.setLogLevel("error");
    expect(lastParams(transport, "logging/setLevel")).toEqual({ level: "error" });
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "error", logger: "db", data: { a: 1 } },
    });
    transport.arrive({ jsonrpc: "2.0", method: "notifications/message", params: { level: "loud" } });
    expect(events.filter((event) => event.type === "log")).toEqual([
      { type: "log", level: "error", logger: "db", data: { a: 1 } },
    ]);
    await client.close();
  });
});
