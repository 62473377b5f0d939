import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import type { LateAnswer } from "../../../src/client/correlation.ts";
import type { Progress } from "../../../src/protocol/types.ts";
import { connectLegacy, connectModern, errorOf, lastId, lastParams, settle } from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

describe("a request on a modern stream", () => {
  it("carries the envelope and a new id each time [BASE-04] [META-01] [VER-01]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT), { capabilities: { extensions: { "com.example/x": {} } } });
    await Promise.all([client.callTool("a", {}), client.callTool("b", {}), client.request("resources/read", { uri: "x:/" })]);
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
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT), { capabilities: { experimental: {} } });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await client.callTool("a", {}, { clientCapabilities: { sampling: {} }, trace: { traceparent }, logLevel: "info", meta: { "com.example/x": 1 } });
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
    expect(lastParams(transport, "tools/call")["_meta"]).not.toHaveProperty("io.modelcontextprotocol/logLevel");
    await client.setLogLevel("warning");
    await client.callTool("a", {});
    expect(lastParams(transport, "tools/call")["_meta"]).toMatchObject({ "io.modelcontextprotocol/logLevel": "warning" });
    expect(transport.sentOf("logging/setLevel")).toEqual([]);
    await client.close();
  });

  it("resolves with isError as the tool's own failure", async () => {
    const { client } = await connectModern((request, far) => far.answer(request.id, { ...TEXT, isError: true }));
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
      const { client } = await connectModern((request, far) => far.answer(request.id, { resultType, taskId: "t", status: "working" }));
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
      const { client } = await connectModern((request, far) => far.answerError(request.id, code, "no\u001b[31m", { uri: "x" }));
      const error = await errorOf(client.request(method, { name: "a", uri: "x" }));
      expect(error.code).toBe(expected);
      expect(error.data).toMatchObject({ wasSent: true, provesNoEffect, rpc: { code, data: { uri: "x" } } });
      expect(JSON.stringify(error.data)).not.toContain("\\u001b");
      expect(error.message).not.toContain("\u001b");
      await client.close();
    });
  }

  it("are cut: neither message nor data is unbounded", async () => {
    const { client } = await connectModern((request, far) => far.answerError(request.id, -32000, "x".repeat(1e6), "y".repeat(1e6)));
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
    const { client, transport } = await connectModern((request, far) => far.answerError(request.id, -32022, "no", { supported: transport.sentOf("tools/call").length > 1 ? [] : ["2026-07-28"] }));
    expect((await errorOf(client.callTool("a", {}))).code).toBe("incompatible");
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await client.close();
  });
});

describe("time-outs", () => {
  it("cancel on a modern stream, name both limits, and are not cancellations [CAN-07] [CAN-08] [STDIO-07] [BASE-17]", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}, { idleTimeoutMs: 1_000, totalTimeoutMs: 9_000 }));
    await clock.advance(999);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await clock.advance(1);
    const error = await failed;
    expect(error.code).toBe("timed_out");
    expect(error.message).toContain("1 s without progress, 9 s in all");
    expect(error.data).toMatchObject({ limit: "idle", wasSent: true, provesNoEffect: false });
    expect(error.data).not.toHaveProperty("rpc");
    expect(transport.sentOf("notifications/cancelled").map(({ message }) => message)).toEqual([
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: lastId(transport, "tools/call"), reason: "timed out" } },
    ]);
    await client.close();
  });

  it("are put off by progress, but not beyond the total [CAN-10]", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}, { idleTimeoutMs: 1_000, totalTimeoutMs: 2_500 }));
    await settle();
    const progressToken = lastId(transport, "tools/call");
    for (let progress = 1; progress <= 4; progress += 1) {
      await clock.advance(600);
      transport.arrive({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } });
    }
    await clock.advance(99);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await clock.advance(1);
    expect((await failed).data).toMatchObject({ limit: "total" });
    await client.close();
  });

  it("have defaults: 30 s without progress", async () => {
    const { client, clock } = await connectModern();
    const failed = errorOf(client.readResource("x:/"));
    await clock.advance(30_000);
    expect((await failed).data).toMatchObject({ idleTimeoutMs: 30_000, totalTimeoutMs: 600_000 });
    await client.close();
  });

  it("of many requests fire each at its own time", async () => {
    const { client, clock } = await connectModern();
    const fired: number[] = [];
    const waits = [5, 3, 9, 1, 7].map((seconds) =>
      errorOf(client.callTool("a", {}, { idleTimeoutMs: seconds * 1_000 })).then(() => fired.push(seconds)),
    );
    for (let second = 1; second <= 9; second += 1) await clock.advance(1_000);
    await Promise.all(waits);
    expect(fired).toEqual([1, 3, 5, 7, 9]);
    await client.close();
    expect(clock.pending()).toBe(0);
  });
});

describe("cancellation", () => {
  it("rejects at once, tells the server once and neutrally [CAN-01] [CAN-03]", async () => {
    const { client, transport } = await connectModern();
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("the user closed the tab of secret-project"));
    const error = await failed;
    expect(error).toMatchObject({ code: "cancelled", cause: controller.signal.reason });
    expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false });
    const cancels = transport.sentOf("notifications/cancelled");
    expect(cancels).toHaveLength(1);
    expect(JSON.stringify(cancels)).not.toContain("secret");
    await client.close();
  });

  it("keeps the code of a reason that is ours", async () => {
    const { client } = await connectModern();
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new PortcullisError("interrupted", "shut down"));
    expect((await failed).code).toBe("interrupted");
    await client.close();
  });

  it("before anything was sent sends nothing", async () => {
    const { client, transport } = await connectModern();
    const error = await errorOf(client.callTool("a", {}, { signal: AbortSignal.abort(new Error("no")) }));
    expect(error.code).toBe("cancelled");
    expect(error.data).toMatchObject({ wasSent: false, provesNoEffect: true });
    expect(transport.sentOf("tools/call")).toEqual([]);
    await client.close();
  });

  it("takes a message that still waits out of the queue and says that it was not sent", async () => {
    const { client, transport } = await connectModern();
    transport.isStuck = true;
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("no"));
    expect((await failed).data).toMatchObject({ wasSent: false, provesNoEffect: true });
    transport.isStuck = false;
    await settle();
    expect(transport.sent.map(({ message }) => (message as { method: string }).method)).toEqual(["server/discover"]);
    await client.close();
  });

  it("race: the answer and the cancellation cross, whichever comes first ends the request once [CAN-05] [CAN-06]", async () => {
    const late: LateAnswer[] = [];
    const { client, transport } = await connectModern();
    const controller = new AbortController();

    // The cancellation first: the answer is late, told to onLate alone.
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal, onLate: (answer) => late.push(answer) }));
    await settle();
    const id = lastId(transport, "tools/call");
    controller.abort(new Error("no"));
    transport.answer(id, TEXT);
    expect((await failed).code).toBe("cancelled");
    expect(late).toEqual([{ kind: "result", result: TEXT }]);
    transport.answer(id, TEXT);
    expect(late).toHaveLength(1);

    // The answer first: the cancellation comes too late and nothing is sent.
    const second = new AbortController();
    const done = client.callTool("a", {}, { signal: second.signal });
    await settle();
    transport.answer(lastId(transport, "tools/call"), TEXT);
    second.abort(new Error("no"));
    expect(await done).toMatchObject({ content: TEXT.content });
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(1);

    // The connection is as good as before.
    const third = client.callTool("a", {});
    await settle();
    transport.answer(lastId(transport, "tools/call"), TEXT);
    await third;
    await client.close();
  });

  it("of a time-out tells a late error too", async () => {
    const late: LateAnswer[] = [];
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}, { idleTimeoutMs: 10, onLate: (answer) => late.push(answer) }));
    await clock.advance(10);
    await failed;
    transport.answerError(lastId(transport, "tools/call"), -32000, "too late");
    expect(late).toEqual([{ kind: "rpc-error", error: { code: -32000, message: "too late" } }]);
    await client.close();
  });

  it("over modern HTTP closes the stream and posts nothing [CAN-02] [HTTP-04]", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    expect(transport.sent.at(-1)?.options.signal?.aborted).toBe(false);
    controller.abort(new Error("no"));
    await failed;
    expect(transport.sentOf("tools/call")[0]?.options.signal?.aborted).toBe(true);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    expect(await client.notify("notifications/cancelled", { requestId: 1 })).toBe(false);
    await client.close();
  });

  it("over legacy HTTP is a notification; the stream stays a little for a late answer [HTTPL-13]", async () => {
    const late: LateAnswer[] = [];
    const { client, clock, transport } = await connectLegacy(() => undefined, { kind: "http" });
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal, onLate: (answer) => late.push(answer) }));
    await settle();
    controller.abort(new Error("no"));
    await failed;
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(1);
    const stream = transport.sentOf("tools/call")[0]?.options.signal;
    expect(stream?.aborted).toBe(false);
    await clock.advance(10_000);
    expect(stream?.aborted).toBe(true);
    expect(late).toEqual([]);
    await client.close();
  });
});

describe("progress", () => {
  const progress = (progressToken: unknown, value: unknown, more: object = {}): object => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken, progress: value, ...more },
  });

  it("comes in order, only growing, only for its request [PRG-01] [PRG-02] [PRG-05]", async () => {
    const seen: Progress[] = [];
    const { client, transport } = await connectModern();
    const done = client.callTool("a", {}, { onProgress: (value) => seen.push(value) });
    await settle();
    const token = lastId(transport, "tools/call");
    for (const [of, value] of [[token, 1], [token, 3], [token, 2], [token, 3], [`${token}`, 9], [999, 9], [token, "x"], [token, Number.NaN]] as const) {
      transport.arrive(progress(of, value, { total: 10, message: "m" }));
    }
    expect(seen).toEqual([
      { progress: 1, total: 10, message: "m" },
      { progress: 3, total: 10, message: "m" },
    ]);
    transport.answer(token, TEXT);
    await done;
    transport.arrive(progress(token, 4));
    expect(seen).toHaveLength(2);
    expect(client.oddities()).toEqual({ "progress.not-growing": 4, "progress.unknown-token": 3 });
    await client.close();
  });

  it("that floods is passed on in part only, and keeps the request alive [PRG-04]", async () => {
    const seen: Progress[] = [];
    const { client, clock, transport } = await connectModern(() => undefined, { limits: { progressPerSecond: 5 } });
    const done = client.callTool("a", {}, { onProgress: (value) => seen.push(value), idleTimeoutMs: 1_500 });
    await settle();
    const token = lastId(transport, "tools/call");
    for (let value = 1; value <= 1_000; value += 1) transport.arrive(progress(token, value));
    expect(seen).toHaveLength(5);
    await clock.advance(1_000);
    transport.arrive(progress(token, 1_001));
    expect(seen.at(-1)).toEqual({ progress: 1_001 });
    await clock.advance(1_400);
    transport.answer(token, TEXT);
    await done;
    await client.close();
  });

  it("does not reach further where its listener throws", async () => {
    const { client, transport } = await connectModern();
    const done = client.callTool("a", {}, {
      onProgress: () => {
        throw new Error("bad listener");
      },
    });
    await settle();
    const token = lastId(transport, "tools/call");
    transport.arrive(progress(token, 1));
    transport.answer(token, TEXT);
    await done;
    expect(client.oddities()).toEqual({ "progress.listener-threw": 1 });
    await client.close();
  });
});

describe("answers that belong nowhere", () => {
  it("duplicate ids: the first answer wins, the second is counted, the next call is untouched", async () => {
    const { client } = await connectModern((request, far) => {
      far.answer(request.id, { ...TEXT, content: [{ type: "text", text: "first" }] });
      far.answer(request.id, { ...TEXT, content: [{ type: "text", text: "second" }] });
    });
    expect(await client.callTool("a", {})).toMatchObject({ content: [{ text: "first" }] });
    expect(await client.callTool("a", {})).toMatchObject({ content: [{ text: "first" }] });
    expect(client.oddities()).toEqual({ "answer.duplicate": 2 });
    await client.close();
  });

  it("unknown ids, ids of another type and answers without an id end nothing", async () => {
    const { client, transport } = await connectModern();
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.answer("no-such-id", TEXT);
    transport.answer(987_654, TEXT);
    transport.answerError(null, -32700);
    transport.arrive({ jsonrpc: "2.0", result: {} });
    transport.answer(id, TEXT);
    expect(await done).toMatchObject({ content: TEXT.content });
    expect(client.oddities()).toEqual({ "answer.unknown-id": 2, "answer.no-id": 1, "jsonrpc.bad-id": 1 });
    await client.close();
  });

  it("an id that comes back as text fails its request soon, and is never taken for its answer", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.answer(String(lastId(transport, "tools/call")), TEXT);
    await clock.advance(2_000);
    expect(await failed).toMatchObject({ code: "protocol_error" });
    await client.close();
  });

  it("an error without an id is told where nothing else comes for the only request", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.answerError(null, -32600, "cannot read");
    await clock.advance(2_000);
    expect(await failed).toMatchObject({ code: "remote_error", data: { rpc: { code: -32600 } } });
    await client.close();
  });

  it("result and error together end the request as invalid", async () => {
    const { client, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.arrive({ jsonrpc: "2.0", id: lastId(transport, "tools/call"), result: TEXT, error: { code: 1, message: "" } });
    expect(await failed).toMatchObject({ code: "protocol_error", data: { wasSent: true, provesNoEffect: false } });
    await client.close();
  });

  it("a message without content may be noise: the real answer counts where it comes", async () => {
    const { client, clock, transport } = await connectModern();
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.arrive({ jsonrpc: "2.0", id });
    await clock.advance(200);
    transport.answer(id, TEXT);
    await done;
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.arrive({ jsonrpc: "2.0", id: lastId(transport, "tools/call") });
    await clock.advance(2_000);
    expect((await failed).code).toBe("protocol_error");
    await client.close();
  });

  it("a batch is taken apart", async () => {
    const { client, transport } = await connectModern();
    const both = Promise.all([client.callTool("a", {}), client.callTool("b", {})]);
    await settle();
    const [one, other] = transport.sentOf("tools/call").map(({ message }) => (message as { id: number }).id);
    transport.arrive([]);
    transport.arrive([{ jsonrpc: "2.0", id: other, result: { ...TEXT, content: [] } }, 7, { jsonrpc: "2.0", id: one, result: TEXT }]);
    expect(await both).toMatchObject([{ content: TEXT.content }, { content: [] }]);
    await client.close();
  });

  it("are told with moderation, however many come", async () => {
    const { client, transport, events } = await connectModern();
    for (let index = 0; index < 100_000; index += 1) transport.answer(`ghost-${index}`, TEXT);
    expect(client.oddities()).toEqual({ "answer.unknown-id": 100_000 });
    expect(events.filter((event) => event.type === "odd").length).toBeLessThan(40);
    await client.close();
  });

  it("over HTTP count only on the exchange of their request", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.answer(id, TEXT, { requestId: id + 1, httpStatus: 200 });
    transport.answer(id, { ...TEXT, content: [] }, { requestId: id, httpStatus: 200 });
    expect(await done).toMatchObject({ content: [] });
    expect(client.oddities()).toEqual({ "answer.foreign-stream": 1 });
    await client.close();
  });
});

describe("the end of the connection", () => {
  it("broken stream with a write in flight: connection_lost, was sent, effect unknown, sent once [HTTP-35]", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const failed = errorOf(client.callTool("write", {}));
    await settle();
    transport.fail(lastId(transport, "tools/call"), new PortcullisError("connection_lost", "the stream ended without the response", { data: { status: 200, wasSent: true } }));
    const error = await failed;
    expect(error.code).toBe("connection_lost");
    expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false, method: "tools/call" });
    expect(transport.sentOf("tools/call")).toHaveLength(1);
    expect(transport.sentOf("tools/call")[0]?.options.mayHaveEffect).toBe(true);
    await client.close();
  });

  it("fails what is in flight with its error, and what still waited as not sent", async () => {
    const { client, transport, events } = await connectModern();
    const inFlight = errorOf(client.callTool("a", {}));
    await settle();
    transport.isStuck = true;
    const queued = errorOf(client.callTool("b", {}));
    await settle();
    transport.drop(new PortcullisError("process_exited", "exit 3", { data: { exitCode: 3 } }));
    expect((await inFlight).data).toMatchObject({ exitCode: 3, wasSent: true, provesNoEffect: false });
    expect((await queued).data).toMatchObject({ wasSent: false, provesNoEffect: true });
    expect(events.at(-1)).toMatchObject({ type: "closed", error: { code: "process_exited" } });
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    const after = await errorOf(client.callTool("c", {}));
    expect(after).toMatchObject({ code: "process_exited", data: { wasSent: false } });
    await client.close();
  });

  it("by close interrupts what is in flight, once", async () => {
    const { client, transport, events, clock } = await connectModern();
    const inFlight = errorOf(client.callTool("a", {}));
    await settle();
    expect(client.close()).toBe(client.close());
    expect(await client.close()).toEqual({ how: "clean" });
    expect(await inFlight).toMatchObject({ code: "interrupted", data: { wasSent: true } });
    expect(events.filter((event) => event.type === "closed")).toEqual([{ type: "closed" }]);
    expect(transport.closes).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it("makes a message that could not be sent a failure that had no effect", async () => {
    const { client, transport } = await connectModern();
    transport.drop();
    expect((await errorOf(client.callTool("a", {}))).data).toMatchObject({ wasSent: false, provesNoEffect: true });
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
    const { client } = await connectModern((request, far) => far.answer(request.id, { resultType: "complete", content: "x", contents: [null, { uri: "a" }], messages: [{ role: "user", content: { type: "new-kind" } }, { role: "user" }], isError: "yes", extra: 1 }));
    expect(await client.callTool("a", {})).toEqual(expect.objectContaining({ content: [], extra: 1 }));
    expect(await client.callTool("a", {})).not.toHaveProperty("isError");
    expect((await client.readResource("x:/")).contents).toEqual([{ uri: "a" }]);
    expect((await client.getPrompt("p", {})).messages).toEqual([{ role: "user", content: { type: "new-kind" } }]);
    await client.close();
  });

  it("complete with what is there [RPC-10] [RPC-12]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, { resultType: "complete", completion: { values: ["a", 3, ...Array.from({ length: 200 }, () => "b")], total: 500, hasMore: true } }));
    const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "a" }, context: { arguments: { y: "1" } } } as const;
    const completion = await client.complete(params);
    expect(completion.values).toHaveLength(100);
    expect(completion).toMatchObject({ total: 500, hasMore: true });
    expect(lastParams(transport, "completion/complete")).toMatchObject(params);
    await client.close();
  });

  it("ask nothing that the server does not offer [BASE-20] [RPC-07]", async () => {
    const { client, transport } = await connectModern(() => undefined, { serverCapabilities: {} });
    expect((await client.list("tools")).items).toEqual([]);
    expect(await client.complete({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } })).toEqual({ values: [] });
    await client.setLogLevel("debug");
    expect(transport.sent).toHaveLength(1);
    await client.close();
  });

  it("set the log level of a legacy server and pass its logs on", async () => {
    const { client, transport, events } = await connectLegacy((request, far) => far.answer(request.id, {}));
    await client.setLogLevel("error");
    expect(lastParams(transport, "logging/setLevel")).toEqual({ level: "error" });
    transport.arrive({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", logger: "db", data: { a: 1 } } });
    transport.arrive({ jsonrpc: "2.0", method: "notifications/message", params: { level: "loud" } });
    expect(events.filter((event) => event.type === "log")).toEqual([{ type: "log", level: "error", logger: "db", data: { a: 1 } }]);
    await client.close();
  });
});
