import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { TaskHandle } from "../../../src/client/tasks.ts";
import type { Progress, ServerCapabilities } from "../../../src/protocol/types.ts";
import {
  connectLegacy,
  connectModern,
  errorOf,
  lastId,
  lastParams,
  settle,
} from "../../support/client-setup.ts";
import type { Respond } from "../../support/scripted-transport.ts";

const EXTENSION = "io.modelcontextprotocol/tasks";
const modernCapabilities: ServerCapabilities = { tools: {}, extensions: { [EXTENSION]: {} } };
const legacyCapabilities: ServerCapabilities = {
  tools: {},
  tasks: { requests: { tools: { call: {} } }, cancel: {} },
};
const CONTENT = [{ type: "text", text: "done" }];

/** A modern server whose task goes through `states`, one per look. */
const modernTask =
  (states: readonly JsonObject[]): Respond =>
  (request, far) => {
    if (request.method === "tools/call")
      far.answer(request.id, {
        resultType: "task",
        taskId: "t1",
        status: "working",
        ttlMs: null,
        pollIntervalMs: 1_000,
      });
    else if (request.method === "tasks/get")
      far.answer(request.id, {
        resultType: "complete",
        taskId: "t1",
        ttlMs: null,
        pollIntervalMs: 1_000,
        ...states[Math.min(far.sentOf("tasks/get").length, states.length) - 1],
      });
    else far.answer(request.id, { resultType: "complete" });
  };

describe("tasks of the extension", () => {
  it("are declared on each request that may become one, and on no other [TASK-01, VER-27]", async () => {
    const { client, transport } = await connectModern(
      (request, far) => far.answer(request.id, { resultType: "complete", content: CONTENT }),
      { serverCapabilities: modernCapabilities },
    );
    const declared = (): unknown =>
      (lastParams(transport, "tools/call")["_meta"] as JsonObject)[
        "io.modelcontextprotocol/clientCapabilities"
      ];
    await client.callTool("a", {});
    expect(declared()).toEqual({});
    expect(await client.tasks.start("a", {})).toMatchObject({
      kind: "completed",
      result: { content: CONTENT },
    });
    expect(declared()).toEqual({ extensions: { [EXTENSION]: {} } });
    await client.close();
  });

  it("are not declared to a server without the extension", async () => {
    const { client, transport } = await connectModern((request, far) =>
      far.answer(request.id, { resultType: "complete", content: [] }),
    );
    await client.tasks.start("a", {});
    expect(
      (lastParams(transport, "tools/call")["_meta"] as JsonObject)[
        "io.modelcontextprotocol/clientCapabilities"
      ],
    ).toEqual({});
    await client.close();
  });

  it("give a durable handle and are looked at until they end [TASK-07] [TASK-08] [TASK-09] [TASK-17]", async () => {
    const { client, transport, clock } = await connectModern(
      modernTask([
        { status: "working" },
        { status: "working", statusMessage: "half" },
        { status: "completed", result: { content: CONTENT, isError: true } },
      ]),
      { serverCapabilities: modernCapabilities },
    );
    const start = await client.tasks.start("slow", {});
    expect(start).toMatchObject({
      kind: "task",
      handle: { protocol: "extension", taskId: "t1", tool: "slow", answeredKeys: [] },
    });
    const handle = JSON.parse(JSON.stringify((start as { handle: TaskHandle }).handle)) as TaskHandle;
    const seen: string[] = [];
    const done = client.tasks.wait(handle, { onStatus: (task) => seen.push(task.status) });
    await clock.advance(900);
    expect(transport.sentOf("tasks/get")).toHaveLength(1);
    await clock.advance(5_000);
    expect(await done).toMatchObject({ content: CONTENT, isError: true });
    expect(seen).toEqual(["working", "working", "completed"]);
    await client.close();
  });

  it("are waited for however long nothing is told of them [PRG-07]", async () => {
    const quiet = Array.from({ length: 120 }, () => ({ status: "working" }));
    const { client, clock } = await connectModern(
      modernTask([...quiet, { status: "completed", result: { content: CONTENT } }]),
      { serverCapabilities: modernCapabilities },
    );
    const start = await client.tasks.start("slow", {});
    const done = client.tasks.wait((start as { handle: TaskHandle }).handle);
    // A request without progress is over after 30 s.
    await clock.advance(200_000);
    expect(await done).toMatchObject({ content: CONTENT });
    await client.close();
  });

  it("name the task in the header of every message about it [TASK-13]", async () => {
    const { client, transport } = await connectModern(
      (request, far) =>
        far.answer(
          request.id,
          { resultType: "complete", taskId: "t1", status: "working" },
          { requestId: request.id },
        ),
      { serverCapabilities: modernCapabilities, kind: "http" },
    );
    const handle: TaskHandle = {
      protocol: "extension",
      taskId: "t1",
      tool: "a",
      startedAt: 0,
      answeredKeys: [],
    };
    await client.tasks.look(handle);
    await client.tasks.update(handle, { k: { action: "accept" } });
    await client.tasks.cancel(handle);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect(transport.sentOf(method)[0]?.options.headers).toMatchObject({
        "mcp-method": method,
        "mcp-name": "t1",
      });
    }
    await client.close();
  });

  it("answer each question once, and keep that before it is sent [TASK-04] [TASK-05] [TASK-10] [TASK-11]", async () => {
    const question = (message: string): JsonObject => ({
      method: "elicitation/create",
      params: { message, requestedSchema: { type: "object" } },
    });
    const asking = { status: "input_required", inputRequests: { k1: question("one") } };
    const { client, transport, clock } = await connectModern(
      modernTask([
        asking,
        asking,
        { status: "input_required", inputRequests: { k1: question("one"), k2: question("two") } },
        { status: "completed", result: { content: CONTENT } },
      ]),
      {
        serverCapabilities: modernCapabilities,
        inputs: {
          elicitForm: async ({ message }, { taskId }) => ({
            action: "accept",
            content: { message, taskId: taskId ?? "" },
          }),
        },
      },
    );
    const start = await client.tasks.start("slow", {});
    const handles: TaskHandle[] = [];
    const done = client.tasks.wait((start as { handle: TaskHandle }).handle, {
      onHandle: (handle) => {
        expect(transport.sentOf("tasks/update")).toHaveLength(handles.length);
        handles.push(handle);
      },
    });
    await clock.advance(10_000);
    await done;
    expect(handles.map((handle) => handle.answeredKeys)).toEqual([["k1"], ["k1", "k2"]]);
    expect(
      transport
        .sentOf("tasks/update")
        .map(({ message }) => (message as { params: JsonObject }).params["inputResponses"]),
    ).toEqual([
      { k1: { action: "accept", content: { message: "one", taskId: "t1" } } },
      { k2: { action: "accept", content: { message: "two", taskId: "t1" } } },
    ]);
    await client.close();
  });

  it("fail with the JSON-RPC error they ended by, or as cancelled by the server [TASK-14] [TASK-17]", async () => {
    const { client } = await connectModern(
      modernTask([{ status: "failed", error: { code: -32603, message: "broke" } }]),
      { serverCapabilities: modernCapabilities },
    );
    const start = await client.tasks.start("slow", {});
    expect(await errorOf(client.tasks.wait((start as { handle: TaskHandle }).handle))).toMatchObject({
      code: "remote_error",
      data: { rpc: { code: -32603, message: "broke" } },
    });
    await client.close();

    const other = await connectModern(modernTask([{ status: "cancelled" }]), {
      serverCapabilities: modernCapabilities,
    });
    const second = await other.client.tasks.start("slow", {});
    expect(await errorOf(other.client.tasks.wait((second as { handle: TaskHandle }).handle))).toMatchObject({
      code: "cancelled",
      data: { byServer: true },
    });
    await other.client.close();
  });

  it("are left alone by who stops waiting, and never cancelled by a notification [TASK-12]", async () => {
    const { client, transport, clock } = await connectModern(modernTask([{ status: "working" }]), {
      serverCapabilities: modernCapabilities,
    });
    const start = await client.tasks.start("slow", {});
    const { handle } = start as { handle: TaskHandle };
    const controller = new AbortController();
    const failed = errorOf(client.tasks.wait(handle, { signal: controller.signal }));
    await clock.advance(3_000);
    controller.abort(new Error("no"));
    expect((await failed).code).toBe("cancelled");
    const bounded = errorOf(client.tasks.wait(handle, { maxWaitMs: 5_000 }));
    await clock.advance(10_000);
    expect(await bounded).toMatchObject({ code: "timed_out", data: { handle } });
    await client.tasks.cancel(handle);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    expect(transport.sentOf("tasks/cancel")).toHaveLength(1);
    await client.close();
  });

  it("that are malformed, or somebody else's, are protocol errors", async () => {
    const { client } = await connectModern(
      (request, far) =>
        far.answer(request.id, {
          resultType: request.method === "tools/call" ? "task" : "complete",
          taskId: "other",
          status: "working",
        }),
      { serverCapabilities: modernCapabilities },
    );
    const start = await client.tasks.start("slow", {});
    const { handle } = start as { handle: TaskHandle };
    expect((await errorOf(client.tasks.look({ ...handle, taskId: "t1" }))).code).toBe("protocol_error");
    await client.close();
    const bad = await connectModern(
      (request, far) => far.answer(request.id, { resultType: "task", taskId: "" }),
      { serverCapabilities: modernCapabilities },
    );
    expect((await errorOf(bad.client.tasks.start("slow", {}))).code).toBe("protocol_error");
    await bad.client.close();
  });
});

describe("tasks of 2025-11-25", () => {
  const respond: Respond = (request, far) => {
    if (request.method === "tools/call")
      far.answer(
        request.id,
        request.params?.["task"] === undefined
          ? { content: CONTENT }
          : { task: { taskId: "t1", status: "working", ttl: 5, pollInterval: 1_000 } },
      );
    else if (request.method === "tasks/get")
      far.answer(request.id, {
        taskId: "t1",
        status: far.sentOf("tasks/get").length < 3 ? "working" : "completed",
        pollInterval: 1_000,
      });
    else far.answer(request.id, { content: CONTENT });
  };

  it("are asked for only where wanted and declared [TASK-18]", async () => {
    const { client, transport } = await connectLegacy(respond, { serverCapabilities: legacyCapabilities });
    expect((await client.tasks.start("a", {})).kind).toBe("completed");
    expect(lastParams(transport, "tools/call")).not.toHaveProperty("task");
    expect((await client.tasks.start("a", {}, { asTask: true, taskTtlMs: 9 })).kind).toBe("task");
    expect(lastParams(transport, "tools/call")["task"]).toEqual({ ttl: 9 });
    await client.close();

    const bare = await connectLegacy(respond, { serverCapabilities: { tools: {} } });
    expect((await bare.client.tasks.start("a", {}, { asTask: true })).kind).toBe("completed");
    await bare.client.close();
  });

  it("are looked at, then their result is fetched; progress goes on meanwhile [PRG-06] [TASK-21] [TASK-22]", async () => {
    const seen: Progress[] = [];
    const { client, transport, clock, events } = await connectLegacy(respond, {
      serverCapabilities: legacyCapabilities,
    });
    const start = await client.tasks.start(
      "a",
      {},
      { asTask: true, onProgress: (progress) => seen.push(progress) },
    );
    const progressToken = lastId(transport, "tools/call");
    const done = client.tasks.wait((start as { handle: TaskHandle }).handle);
    await settle();
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: 1 },
    });
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/tasks/status",
      params: { taskId: "t1", status: "working" },
    });
    await clock.advance(5_000);
    expect(await done).toEqual({ content: CONTENT });
    expect(seen).toEqual([{ progress: 1 }]);
    expect(transport.sentOf("tasks/result")).toHaveLength(1);
    expect(events).toContainEqual(expect.objectContaining({ type: "task.changed" }));
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: 2 },
    });
    expect(seen).toHaveLength(1);
    await client.close();
  });

  it("wait for the result where the task asks for input, so that it can ask", async () => {
    const { client, transport } = await connectLegacy(
      (request, far) => {
        if (request.method === "tasks/get")
          far.answer(request.id, { taskId: "t1", status: "input_required" });
        else far.answer(request.id, { content: CONTENT });
      },
      { serverCapabilities: legacyCapabilities },
    );
    await client.tasks.wait({ protocol: "legacy", taskId: "t1", tool: "a", startedAt: 0, answeredKeys: [] });
    expect(transport.sentOf("tasks/result")).toHaveLength(1);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await client.tasks.cancel({
      protocol: "legacy",
      taskId: "t1",
      tool: "a",
      startedAt: 0,
      answeredKeys: [],
    });
    expect(lastParams(transport, "tasks/cancel")).toEqual({ taskId: "t1" });
    await client.close();
  });
});
