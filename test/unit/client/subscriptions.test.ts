import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { PortcullisError } from "../../../src/errors.ts";
import type { SubscriptionChange } from "../../../src/client/subscriptions.ts";
import { TASKS_EXTENSION } from "../../../src/protocol/methods.ts";
import { connectLegacy, connectModern, lastId, lastParams, settle } from "../../support/client-setup.ts";
import type { ScriptedTransport } from "../../support/scripted-transport.ts";

const ID = "io.modelcontextprotocol/subscriptionId";
const TOOLS = "notifications/tools/list_changed";
const PROMPTS = "notifications/prompts/list_changed";

const tell = (transport: ScriptedTransport, id: unknown, method: string, more: JsonObject = {}): void =>
  transport.arrive({ jsonrpc: "2.0", method, params: { _meta: { [ID]: id }, ...more } });
const acknowledge = (
  transport: ScriptedTransport,
  filter?: JsonObject,
  id: number = lastId(transport, "subscriptions/listen"),
): void =>
  tell(transport, id, "notifications/subscriptions/acknowledged", {
    notifications: filter ?? (lastParams(transport, "subscriptions/listen")["notifications"] as JsonObject),
  });
const listens = (transport: ScriptedTransport): number => transport.sentOf("subscriptions/listen").length;

describe("listen, modern", () => {
  it("opens one stream, tells what was agreed to and delivers [SUB-02] [SUB-04]", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport, events } = await connectModern();
    const listening = client.listen(
      { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
      (change) => seen.push(change),
    );
    await settle();
    expect(lastParams(transport, "subscriptions/listen")["notifications"]).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["file:///a"],
    });
    acknowledge(transport, { toolsListChanged: true });
    const subscription = await listening;
    expect(subscription.accepted).toEqual({ toolsListChanged: true });
    tell(transport, lastId(transport, "subscriptions/listen"), TOOLS);
    expect(seen).toEqual([{ kind: "list_changed", list: "tools", isGap: false }]);
    expect(events).toContainEqual({ type: "list_changed", list: "tools", isGap: false });
    await client.close();
  });

  it("drops what comes early, was not asked for, carries a foreign id, an id of another type, or none [SUB-05] [SUB-06] [SUB-07]", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport } = await connectModern();
    const listening = client.listen({ toolsListChanged: true }, (change) => seen.push(change));
    await settle();
    const id = lastId(transport, "subscriptions/listen");
    tell(transport, id, TOOLS);
    acknowledge(transport);
    await listening;
    tell(transport, id, PROMPTS);
    tell(transport, "nobody", TOOLS);
    tell(transport, String(id), TOOLS);
    transport.arrive({ jsonrpc: "2.0", method: TOOLS });
    expect(seen).toEqual([]);
    expect(client.oddities()).toEqual({
      "subscription.early": 1,
      "subscription.unasked": 1,
      "subscription.foreign-id": 2,
      "subscription.no-id": 1,
    });
    await client.close();
  });

  it("shares the stream, replaces it only for more, and ends it with the last wish [SUB-12]", async () => {
    const { client, transport } = await connectModern();
    const first = client.listen({ toolsListChanged: true }, () => undefined);
    await settle();
    acknowledge(transport);
    const one = await first;
    const two = await client.listen({ toolsListChanged: true }, () => undefined);
    expect(listens(transport)).toBe(1);

    const third = client.listen({ promptsListChanged: true }, () => undefined);
    await settle();
    expect(listens(transport)).toBe(2);
    expect(lastParams(transport, "subscriptions/listen")["notifications"]).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
    });
    // The old stream lives until the new one is there.
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    acknowledge(transport);
    const three = await third;
    await settle();
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(1);

    three.close();
    two.close();
    expect(listens(transport)).toBe(2);
    one.close();
    await settle();
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(2);
    expect(one.accepted).toEqual({});
    await client.close();
  });

  it("asks only for what the server offers", async () => {
    const { client, transport } = await connectModern(() => undefined, {
      serverCapabilities: { tools: {}, resources: { listChanged: true } },
    });
    const subscription = await client.listen(
      { toolsListChanged: true, resourceSubscriptions: ["a"] },
      () => undefined,
    );
    expect(subscription.accepted).toEqual({});
    expect(listens(transport)).toBe(0);
    await client.close();
  });

  it("asks about tasks only where the server has them, and declares them then [TASK-16]", async () => {
    const wanted = { toolsListChanged: true, taskIds: ["t"] };
    for (const [extensions, expected, declared] of [
      [{ [TASKS_EXTENSION]: {} }, wanted, { extensions: { [TASKS_EXTENSION]: {} } }],
      [{ "com.example/other": {} }, { toolsListChanged: true }, {}],
    ] as const) {
      const { client, transport } = await connectModern(() => undefined, {
        serverCapabilities: { tools: { listChanged: true }, extensions },
      });
      const listening = client.listen(wanted, () => undefined);
      await settle();
      const { notifications, _meta } = lastParams(transport, "subscriptions/listen");
      expect(notifications).toEqual(expected);
      expect(_meta).toHaveProperty(["io.modelcontextprotocol/clientCapabilities"], declared);
      acknowledge(transport);
      await listening;
      await client.close();
    }
  });

  it("gives up waiting for an acknowledgement, and asks again rarely", async () => {
    const { client, transport, clock } = await connectModern();
    const listening = client.listen({ toolsListChanged: true }, () => undefined);
    await clock.advance(10_000);
    expect((await listening).accepted).toEqual({});
    await clock.advance(120_000);
    expect(listens(transport)).toBeLessThan(8);
    expect(client.oddities()["subscription.no-acknowledgement"]).toBeGreaterThan(1);
    await client.close();
    expect(clock.pending()).toBe(0);
  });

  const ends: readonly (readonly [string, (transport: ScriptedTransport, id: number) => void])[] = [
    [
      "a result [SUB-08]",
      (transport, id) => transport.answer(id, { resultType: "complete", _meta: { [ID]: id } }),
    ],
    [
      "notifications/cancelled [CAN-14]",
      (transport, id) =>
        transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }),
    ],
    [
      "a lost stream [SUB-03]",
      (transport, id) => transport.fail(id, new PortcullisError("connection_lost", "ended")),
    ],
  ];
  for (const [name, end] of ends) {
    it(`listens again with backoff after ${name}, and tells once that something may have been missed`, async () => {
      const seen: SubscriptionChange[] = [];
      const { client, transport, clock, events } = await connectModern();
      const listening = client.listen({ toolsListChanged: true }, (change) => seen.push(change));
      await settle();
      acknowledge(transport);
      await listening;
      for (const [round, waitMs] of [1_250, 2_500, 5_000].entries()) {
        end(transport, lastId(transport, "subscriptions/listen"));
        await settle();
        expect(listens(transport)).toBe(round + 1);
        await clock.advance(waitMs);
        expect(listens(transport)).toBe(round + 2);
        acknowledge(transport);
        expect(seen).toHaveLength(round + 1);
      }
      expect(seen[0]).toEqual({ kind: "list_changed", list: "tools", isGap: true });
      expect(events.filter((event) => event.type === "listening").map((event) => event.state)).toEqual([
        "live",
        "waiting",
        "live",
        "waiting",
        "live",
        "waiting",
        "live",
      ]);
      // The stream that the server ended is not cancelled by us. [CAN-04]
      expect(transport.sentOf("notifications/cancelled")).toEqual([]);
      await client.close();
      expect(clock.pending()).toBe(0);
    });
  }

  it("is not asked for again where it is refused", async () => {
    const { client, transport, clock, events } = await connectModern((request, far) => {
      if (request.method === "subscriptions/listen") far.answerError(request.id, -32601);
    });
    expect((await client.listen({ toolsListChanged: true }, () => undefined)).accepted).toEqual({});
    await client.listen({ promptsListChanged: true }, () => undefined);
    await clock.advance(600_000);
    expect(listens(transport)).toBe(1);
    expect(events).toContainEqual({ type: "listening", state: "refused" });
    await client.close();
  });

  it("ignores a cancellation that names something else [CAN-14]", async () => {
    const { client, transport } = await connectModern();
    const listening = client.listen({ toolsListChanged: true }, () => undefined);
    await settle();
    acknowledge(transport);
    await listening;
    const call = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    transport.answer(id, { resultType: "complete", content: [] });
    await call;
    expect(client.oddities()).toEqual({ "cancelled.unknown-request": 1 });
    await client.close();
  });

  it("goes on where a handler throws", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport } = await connectModern();
    void client.listen({ toolsListChanged: true }, () => {
      throw new Error("bad");
    });
    void client.listen({ toolsListChanged: true }, (change) => seen.push(change));
    await settle();
    acknowledge(transport);
    tell(transport, lastId(transport, "subscriptions/listen"), TOOLS);
    expect(seen).toHaveLength(1);
    await client.close();
  });

  it("survives a slow server without a timer of its own ending the stream", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport, clock } = await connectModern();
    void client.listen({ toolsListChanged: true }, (change) => seen.push(change));
    await settle();
    acknowledge(transport);
    await clock.advance(24 * 3_600_000);
    tell(transport, lastId(transport, "subscriptions/listen"), TOOLS);
    expect(seen).toHaveLength(1);
    expect(listens(transport)).toBe(1);
    await client.close();
  });
});

describe("listen, legacy", () => {
  it("hears list changes unasked and subscribes to resources one by one, counted", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport, events } = await connectLegacy((request, far) => far.answer(request.id, {}));
    const one = await client.listen(
      { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
      (change) => seen.push(change),
    );
    const two = await client.listen({ resourceSubscriptions: ["file:///a"] }, () => undefined);
    expect(one.accepted).toEqual({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
    expect(transport.sentOf("resources/subscribe")).toHaveLength(1);

    transport.arrive({ jsonrpc: "2.0", method: TOOLS });
    transport.arrive({ jsonrpc: "2.0", method: PROMPTS });
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "file:///a/b" },
    });
    transport.arrive({ jsonrpc: "2.0", method: "notifications/resources/updated", params: {} });
    expect(seen.map((change) => change.kind)).toEqual(["list_changed", "resource_updated"]);
    expect(events.filter((event) => event.type === "list_changed")).toHaveLength(2);

    one.close();
    await settle();
    expect(transport.sentOf("resources/unsubscribe")).toEqual([]);
    two.close();
    await settle();
    expect(lastParams(transport, "resources/unsubscribe")).toEqual({ uri: "file:///a" });
    await client.close();
  });

  it("agrees to nothing that was refused or is not offered", async () => {
    const { client } = await connectLegacy((request, far) => far.answerError(request.id, -32602));
    expect((await client.listen({ resourceSubscriptions: ["a"] }, () => undefined)).accepted).toEqual({});
    await client.close();
    const bare = await connectLegacy(() => undefined, { serverCapabilities: { resources: {} } });
    expect((await bare.client.listen({ resourceSubscriptions: ["a"] }, () => undefined)).accepted).toEqual(
      {},
    );
    expect(bare.transport.sentOf("resources/subscribe")).toEqual([]);
    await bare.client.close();
  });

  it("subscribes again in a new session and tells of the gap", async () => {
    const seen: SubscriptionChange[] = [];
    const { client, transport } = await connectLegacy(
      (request, far) => {
        if (request.method === "tools/call" && transport.sentOf("initialize").length < 2) {
          far.fail(request.id, new PortcullisError("session_lost", "404", { data: { status: 404 } }));
        } else far.answer(request.id, {}, { requestId: request.id });
      },
      { kind: "http" },
    );
    await client.listen({ toolsListChanged: true, resourceSubscriptions: ["a"] }, (change) =>
      seen.push(change),
    );
    await client.callTool("t", {});
    await settle();
    expect(transport.sentOf("resources/subscribe")).toHaveLength(2);
    expect(seen).toEqual([
      { kind: "list_changed", list: "tools", isGap: true },
      { kind: "resource_updated", uri: "a", isGap: true },
    ]);
    await client.close();
  });
});
