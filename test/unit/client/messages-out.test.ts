/** What leaves a client, whatever it does: ids, notifications, envelopes, and values that are not ours to touch. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { rpcCodes } from "../../../src/protocol/codes.ts";
import { TASKS_EXTENSION } from "../../../src/protocol/methods.ts";
import { createMemoryTransportPair } from "../../../src/transport/memory.ts";
import { createClient } from "../../../src/client/client.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { isValidMetaKey } from "../../../src/wire/meta.ts";
import {
  connectLegacy,
  connectModern,
  discoverResult,
  errorOf,
  lastId,
  lastParams,
  originOf,
  settle,
} from "../../support/client-setup.ts";
import { PortcullisError } from "../../../src/errors.ts";
import type { JsonRpcMessage } from "../../../src/protocol/jsonrpc.ts";

const TEXT = { resultType: "complete", content: [{ type: "text", text: "hi" }] };
const PREFIX = "io.modelcontextprotocol/";

const metaOf = (message: object): JsonObject => (message as { params: { _meta: JsonObject } }).params._meta;

describe("requests and notifications", () => {
  it("requests have whole numbers as ids, each once, also across a new session [BASE-02] [BASE-03] [BASE-05]", async () => {
    let isLost = false;
    const { client, transport } = await connectLegacy(
      (request, far) => {
        if (isLost)
          far.fail(request.id, new PortcullisError("session_lost", "gone", { data: { status: 404 } }));
        else far.answer(request.id, { content: [] }, originOf(request, "http"));
        isLost = false;
      },
      { kind: "http" },
    );
    await Promise.all(Array.from({ length: 50 }, () => client.callTool("a", {})));
    isLost = true;
    await client.callTool("a", {});
    expect(transport.sentOf("initialize")).toHaveLength(2);
    const ids = transport.sent
      .map(({ message }) => (message as JsonObject)["id"])
      .filter((id) => id !== undefined);
    expect(ids.length).toBeGreaterThan(52);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    await client.close();
  });

  it("notifications carry no id, and none that comes in is answered [BASE-06]", async () => {
    const { client, transport } = await connectLegacy();
    expect(await client.notify("notifications/roots/list_changed")).toBe(true);
    for (const { message } of transport.sentOf("notifications/roots/list_changed")) {
      expect(message).not.toHaveProperty("id");
    }
    const before = transport.sent.length;
    for (const method of [
      "notifications/message",
      "notifications/tools/list_changed",
      "com.example/unknown",
      "ping",
    ]) {
      transport.arrive({ jsonrpc: "2.0", method });
      transport.arrive({ jsonrpc: "2.0", method, params: { uri: 1, level: [], data: null } });
    }
    await settle();
    expect(transport.sent).toHaveLength(before);
    await client.close();
  });

  it("no error code is used that the specification has not defined: none of ours stands in a range of others [BASE-13, BASE-14, BASE-16]", () => {
    const reserved = Object.values(rpcCodes).filter((code) => code <= -32_020 && code >= -32_099);
    expect(reserved.toSorted((a, b) => b - a)).toEqual([-32_020, -32_021, -32_022, -32_042]);
    const others = Object.values(rpcCodes).filter((code) => !reserved.includes(code));
    expect(others.toSorted((a, b) => a - b)).toEqual([
      -32_700, -32_603, -32_602, -32_601, -32_600, -32_002, -1,
    ]);
  });

  it("a modern server is never answered at all, so no code reaches that wire [BASE-15]", async () => {
    const { client, transport } = await connectModern();
    const before = transport.sent.length;
    for (const method of ["ping", "resources/read", "elicitation/create", "sampling/createMessage"]) {
      transport.arrive({ jsonrpc: "2.0", id: method, method, params: { uri: "x:/none", mode: "url" } });
    }
    await settle();
    expect(transport.sent).toHaveLength(before);
    await client.close();
  });
});

describe("a modern request", () => {
  it("declares elicitation, sampling and roots each time, as far as somebody handles them, and who it is [META-01] [META-02] [META-03] [META-04] [META-05] [META-06]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT), {
      inputs: {
        elicitForm: async () => ({ action: "decline" }),
        sample: async () => ({ role: "assistant", content: { type: "text", text: "" }, model: "none" }),
        listRoots: async () => ({ roots: [] }),
      },
    });
    await client.callTool("a", {});
    await client.readResource("x:/");
    for (const { message } of transport.sent) {
      expect(metaOf(message)).toMatchObject({
        [`${PREFIX}clientCapabilities`]: { elicitation: { form: {} }, sampling: {}, roots: {} },
        [`${PREFIX}clientInfo`]: { name: "test", version: "1" },
        [`${PREFIX}protocolVersion`]: "2026-07-28",
      });
    }
    await client.close();

    const without = await connectModern((request, far) => far.answer(request.id, TEXT), {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
    });
    await without.client.callTool("a", {});
    expect(
      metaOf({ params: lastParams(without.transport, "tools/call") })[`${PREFIX}clientCapabilities`],
    ).toEqual({});
    await without.client.close();
  });

  it("and no other message has a name that only older revisions know [DEP-22]", async () => {
    const { client, transport } = await connectModern((request, far) => {
      if (request.method !== "subscriptions/listen") far.answer(request.id, TEXT);
    });
    await client.heartbeat();
    await client.setLogLevel("info");
    expect(await client.notify("notifications/roots/list_changed")).toBe(false);
    void client.listen({ resourceSubscriptions: ["x:/"] }, () => undefined);
    await settle();
    const sent = transport.sent.map(({ message }) => (message as JsonObject)["method"]);
    expect(sent).toEqual(["server/discover", "server/discover", "subscriptions/listen"]);
    await client.close();
  });

  it("stands alone: whatever came before it, it says all that the server must know [BASE-19]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT));
    await client.setLogLevel("info");
    for (const name of ["a", "a"]) await client.callTool(name, {});
    const [first, second] = transport.sentOf("tools/call").map(({ message }) => metaOf(message));
    expect({ ...second, progressToken: 0 }).toEqual({ ...first, progressToken: 0 });
    expect(first).toMatchObject({
      [`${PREFIX}protocolVersion`]: "2026-07-28",
      [`${PREFIX}clientCapabilities`]: {},
      [`${PREFIX}logLevel`]: "info",
    });
    await client.close();
  });
});

describe("extensions", () => {
  it("are named by the rules of `_meta` keys, with a prefix [VER-25]", () => {
    expect(isValidMetaKey(TASKS_EXTENSION)).toBe(true);
    expect(TASKS_EXTENSION).toMatch(/^[a-z0-9.-]+\//);
  });

  it("that only one side has are not used: a plain call here, a plain error there [VER-26]", async () => {
    const plain = await connectModern((request, far) => far.answer(request.id, TEXT));
    expect(await plain.client.tasks.start("a", {})).toMatchObject({ kind: "completed" });
    expect(JSON.stringify(lastParams(plain.transport, "tools/call"))).not.toContain(TASKS_EXTENSION);
    await plain.client.close();

    const task = {
      resultType: "task",
      taskId: "t",
      status: "working",
      createdAt: "2026-01-01T00:00:00Z",
      ttlMs: null,
    };
    const pushy = await connectModern((request, far) => far.answer(request.id, task));
    expect((await errorOf(pushy.client.callTool("a", {}))).code).toBe("protocol_error");
    await pushy.client.close();
  });
});

describe("values that belong to the server", () => {
  it("reserved keys of `_meta` that nobody defined for us pass through and mean nothing [META-09]", async () => {
    const meta = {
      [`${PREFIX}future`]: { deep: [1] },
      "modelcontextprotocol.io/x": null,
      progressToken: {},
      traceparent: 7,
    };
    const { client } = await connectModern((request, far) => {
      far.arrive({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { _meta: meta, progressToken: meta },
      });
      far.answer(request.id, { ...TEXT, _meta: meta });
    });
    expect(await client.callTool("a", {})).toMatchObject({ content: TEXT.content, _meta: meta });
    await client.close();
  });

  it("`requestState` goes back byte for byte, whatever it holds [MRTR-03]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (requestState) => {
        const states: unknown[] = [];
        const { client } = await connectModern(
          (request, far) => {
            states.push(request.params?.["requestState"]);
            if (states.length > 1) far.answer(request.id, TEXT);
            else {
              const ask = { method: "roots/list" };
              far.answer(request.id, {
                resultType: "input_required",
                inputRequests: { r: ask },
                requestState,
              });
            }
          },
          { inputs: { listRoots: async () => ({ roots: [] }) } },
        );
        await client.callTool("a", {});
        expect(states).toEqual([undefined, requestState]);
        await client.close();
      }),
      { numRuns: 50 },
    );
  });

  it("binary contents are passed on as they came [RPC-04]", async () => {
    const blob = Buffer.from([0, 255, 1, 254, 13, 10]).toString("base64");
    const contents = [{ uri: "x:/", mimeType: "application/octet-stream", blob }];
    const { client } = await connectModern((request, far) =>
      far.answer(request.id, { resultType: "complete", contents }),
    );
    expect((await client.readResource("x:/")).contents).toEqual(contents);
    await client.close();
  });

  it("a question of a task meets the same bounds as a direct one [TASK-06]", async () => {
    const url = {
      method: "elicitation/create",
      params: { mode: "url", message: "m", url: "https://example.com/" },
    };
    const task = { taskId: "t", status: "input_required", createdAt: "2026-01-01T00:00:00Z", ttlMs: null };
    const { client, transport } = await connectModern(
      (request, far) => {
        if (request.method === "tools/call")
          far.answer(request.id, { resultType: "task", ...task, status: "working" });
        else far.answer(request.id, { resultType: "complete", ...task, inputRequests: { q: url } });
      },
      {
        serverCapabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
        capabilities: { extensions: { [TASKS_EXTENSION]: {} } },
        // Nobody handles URLs, so the question may not be asked, wherever it comes from.
        inputs: { elicitForm: async () => ({ action: "accept", content: {} }) },
      },
    );
    const start = await client.tasks.start("a", {});
    if (start.kind !== "task") throw new Error("it did not become a task");
    expect((await errorOf(client.tasks.wait(start.handle))).code).toBe("input_refused");
    expect(transport.sentOf("tasks/update")).toEqual([]);
    await client.close();
  });
});

describe("a custom transport", () => {
  it("carries JSON-RPC, requests, notifications and the metadata of each request unchanged [STDIO-13] [BASE-07]", async () => {
    const [near, far] = createMemoryTransportPair();
    const got: JsonRpcMessage[] = [];
    await far.open(
      {
        message(message) {
          got.push(message);
          if (!("id" in message) || !("method" in message)) return;
          const result = message.method === "server/discover" ? discoverResult() : TEXT;
          void far.send({ jsonrpc: "2.0", id: message.id, result }, {});
        },
        requestFailed: () => undefined,
        closed: () => undefined,
        odd: () => undefined,
      },
      new AbortController().signal,
    );
    const client = createClient({
      transport: near,
      clock: systemClock,
      random: createSeededRandom(1),
      clientInfo: { name: "test", version: "1" },
    });
    await client.connect();
    await client.callTool("a", { text: "\u2028 ok" });
    expect(got.map((message) => ("method" in message ? message.method : ""))).toEqual([
      "server/discover",
      "tools/call",
    ]);
    expect(got[1]).toMatchObject({
      jsonrpc: "2.0",
      params: {
        name: "a",
        arguments: { text: "\u2028 ok" },
        _meta: { [`${PREFIX}protocolVersion`]: "2026-07-28" },
      },
    });
    await client.close();
    await far.close();
  });
});

describe("legacy tasks", () => {
  it("are cancelled by `tasks/cancel`, never by a notification [CAN-16]", async () => {
    const task = { taskId: "t1", status: "working", createdAt: "2026-01-01T00:00:00Z", ttl: null };
    const { client, transport } = await connectLegacy(
      (request, far) => far.answer(request.id, { ...task, status: "cancelled" }),
      {
        serverCapabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      },
    );
    await client.tasks.cancel({
      protocol: "legacy",
      taskId: "t1",
      tool: "a",
      startedAt: 0,
      answeredKeys: [],
    });
    expect(lastParams(transport, "tasks/cancel")).toMatchObject({ taskId: "t1" });
    expect(lastId(transport, "tasks/cancel")).toBeGreaterThan(0);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await client.close();
  });
});

describe("a list of several pages", () => {
  it("begins again where its session is replaced between pages: cursors are not carried over [PAG-06]", async () => {
    let isLost = true;
    const { client, transport } = await connectLegacy(
      (request, far) => {
        const cursor = request.params?.["cursor"];
        if (cursor !== undefined && isLost) {
          isLost = false;
          far.fail(request.id, new PortcullisError("session_lost", "gone", { data: { status: 404 } }));
          return;
        }
        const session = transport.sentOf("initialize").length;
        const page = {
          tools: [
            { name: `t${session}${cursor === undefined ? "a" : "b"}`, inputSchema: { type: "object" } },
          ],
        };
        far.answer(
          request.id,
          cursor === undefined ? { ...page, nextCursor: `of session ${session}` } : page,
          originOf(request, "http"),
        );
      },
      { kind: "http" },
    );
    const { items, isPartial } = await client.list("tools");
    expect(items.map(({ name }) => name)).toEqual(["t2a", "t2b"]);
    expect(isPartial).toBe(false);
    expect(
      transport
        .sentOf("tools/list")
        .map(({ message }) => (message as { params: JsonObject }).params["cursor"]),
    ).toEqual([undefined, "of session 1", undefined, "of session 2"]);
    await client.close();
  });
});
