/** What a server asks directly. */
import { describe, expect, it } from "vitest";
import type { InputContext, InputHandler } from "../../../src/client/input-handler.ts";
import { connectLegacy, connectModern, lastId, settle } from "../../support/client-setup.ts";
import type { ScriptedTransport } from "../../support/scripted-transport.ts";

const form = (id: unknown, more: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "elicitation/create",
  params: { message: "who?", requestedSchema: { type: "object" }, ...more },
});
const answers = (transport: ScriptedTransport): unknown[] =>
  transport.sent.map(({ message }) => message).filter((message) => !("method" in message));
const accept: InputHandler = { elicitForm: async () => ({ action: "accept", content: { a: 1 } }) };

describe("a legacy server", () => {
  it("gets answers to ping, elicitation, sampling and roots [HTTPL-15] [DEP-20]", async () => {
    const { client, transport } = await connectLegacy(() => undefined, {
      inputs: {
        ...accept,
        sample: async () => ({ role: "assistant", content: { type: "text", text: "x" }, model: "m" }),
        listRoots: async () => ({ roots: [] }),
      },
    });
    transport.arrive({ jsonrpc: "2.0", id: "p", method: "ping" });
    transport.arrive(form(1));
    transport.arrive({
      jsonrpc: "2.0",
      id: 2,
      method: "sampling/createMessage",
      params: { messages: [], maxTokens: 1 },
    });
    transport.arrive({ jsonrpc: "2.0", id: 3, method: "roots/list" });
    await settle();
    expect(answers(transport)).toEqual([
      { jsonrpc: "2.0", id: "p", result: {} },
      { jsonrpc: "2.0", id: 1, result: { action: "accept", content: { a: 1 } } },
      {
        jsonrpc: "2.0",
        id: 2,
        result: { role: "assistant", content: { type: "text", text: "x" }, model: "m" },
      },
      { jsonrpc: "2.0", id: 3, result: { roots: [] } },
    ]);
    await client.close();
  });

  it("is told -32601 for what was not declared and -32602 for a mode that was not [ELI-25]", async () => {
    const { client, transport } = await connectLegacy(() => undefined, { inputs: accept });
    transport.arrive({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    transport.arrive({ jsonrpc: "2.0", id: 2, method: "no/such" });
    transport.arrive(form(3, { mode: "url", url: "https://x" }));
    await settle();
    expect(answers(transport)).toMatchObject([
      { id: 1, error: { code: -32601 } },
      { id: 2, error: { code: -32601 } },
      { id: 3, error: { code: -32602 } },
    ]);
    await client.close();
  });

  it("gets an error, and no text of ours, where the handler fails", async () => {
    const { client, transport } = await connectLegacy(() => undefined, {
      inputs: { elicitForm: () => Promise.reject(new Error("database password is x")) },
    });
    transport.arrive(form(1));
    await settle();
    expect(answers(transport)).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    expect(JSON.stringify(answers(transport))).not.toContain("password");
    await client.close();
  });

  it("gets no answer to a question that it took back [CAN-15]", async () => {
    let context: InputContext | undefined;
    let answer: () => void = () => undefined;
    const { client, transport } = await connectLegacy(() => undefined, {
      inputs: {
        elicitForm: (_params, given) => {
          context = given;
          return new Promise((resolve) => (answer = () => resolve({ action: "accept" })));
        },
      },
    });
    transport.arrive(form(1));
    await settle();
    transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    expect(context?.signal.aborted).toBe(true);
    answer();
    await settle();
    expect(answers(transport)).toEqual([]);
    // Cancelling what is unknown or malformed changes nothing. [CAN-13]
    for (const params of [{ requestId: 99 }, { requestId: null }, {}])
      transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    await client.close();
  });

  it("may ask so much and no more [ELI-26]", async () => {
    const { client, transport, clock } = await connectLegacy(() => undefined, {
      inputs: { elicitForm: () => new Promise(() => undefined) },
      limits: { maxInputs: 3, inputsPerMinute: 5 },
    });
    for (let id = 1; id <= 6; id += 1) transport.arrive(form(id));
    await settle();
    expect(answers(transport)).toMatchObject([4, 5, 6].map((id) => ({ id, error: { code: -32603 } })));
    for (const id of [1, 2, 3])
      transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    for (const id of [11, 12, 13]) transport.arrive(form(id));
    await settle();
    expect(answers(transport)).toMatchObject([
      { id: 4 },
      { id: 5 },
      { id: 6 },
      { id: 13, error: { code: -32603 } },
    ]);
    await clock.advance(60_000);
    transport.arrive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 11 } });
    transport.arrive(form(21));
    await settle();
    expect(answers(transport)).toHaveLength(4);
    await client.close();
  });

  it("asks on behalf of the one call that runs, whose clocks stand still meanwhile", async () => {
    let answer: () => void = () => undefined;
    const seen: (InputContext | undefined)[] = [];
    const { client, transport, clock } = await connectLegacy(() => undefined, { inputs: accept });
    const done = client.callTool(
      "t",
      {},
      {
        idleTimeoutMs: 1_000,
        totalTimeoutMs: 2_000,
        inputs: {
          elicitForm: (_params, context) => {
            seen.push(context);
            return new Promise((resolve) => (answer = () => resolve({ action: "decline" })));
          },
        },
      },
    );
    await settle();
    transport.arrive(form("q"));
    await clock.advance(300_000);
    expect(seen).toMatchObject([
      { requestId: lastId(transport, "tools/call"), method: "tools/call", era: "legacy" },
    ]);
    answer();
    await settle();
    expect(answers(transport)).toEqual([{ jsonrpc: "2.0", id: "q", result: { action: "decline" } }]);
    await clock.advance(900);
    transport.answer(lastId(transport, "tools/call"), { content: [] });
    await done;
    await client.close();
  });

  it("is not believed to mean one call where several run on a stream", async () => {
    const seen: InputContext[] = [];
    const { client, transport } = await connectLegacy(() => undefined, {
      inputs: {
        elicitForm: async (_params, context) => {
          seen.push(context);
          return { action: "cancel" };
        },
      },
    });
    const own: InputHandler = { elicitForm: () => Promise.reject(new Error("not this one")) };
    const both = Promise.all([
      client.callTool("a", {}, { inputs: own }),
      client.callTool("b", {}, { inputs: own }),
    ]);
    await settle();
    transport.arrive(form("q"));
    await settle();
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty("requestId");
    for (const { message } of transport.sentOf("tools/call"))
      transport.answer((message as { id: number }).id, { content: [] });
    await both;
    await client.close();
  });

  it("means the call of the HTTP stream that its question came on", async () => {
    const { client, transport } = await connectLegacy(() => undefined, { kind: "http", inputs: accept });
    const own: InputHandler = { elicitForm: async () => ({ action: "decline" }) };
    const both = Promise.all([client.callTool("a", {}, { inputs: own }), client.callTool("b", {})]);
    await settle();
    const [one, other] = transport.sentOf("tools/call").map(({ message }) => (message as { id: number }).id);
    transport.arrive(form("x"), { requestId: other as number, httpStatus: 200 });
    transport.arrive(form("y"), { requestId: one as number, httpStatus: 200 });
    await settle();
    expect(answers(transport)).toMatchObject([
      { id: "x", result: { action: "accept" } },
      { id: "y", result: { action: "decline" } },
    ]);
    for (const id of [one, other])
      transport.answer(id as number, { content: [] }, { requestId: id as number });
    await both;
    await client.close();
  });

  it("asks with the id of a call that runs without being taken for its answer", async () => {
    const { client, transport } = await connectLegacy();
    const done = client.callTool("t", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.arrive({
      jsonrpc: "2.0",
      id,
      method: "sampling/createMessage",
      params: { messages: [], maxTokens: 1 },
    });
    await settle();
    expect(answers(transport)).toMatchObject([{ id, error: { code: -32601 } }]);
    transport.answer(id, { content: [] });
    await done;
    await client.close();
  });

  it("gets the task back that its question names [TASK-23]", async () => {
    const { client, transport } = await connectLegacy(() => undefined, { inputs: accept });
    transport.arrive(form(1, { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t" } } }));
    await settle();
    expect(answers(transport)).toMatchObject([
      { result: { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t" } } } },
    ]);
    await client.close();
  });

  it("tells of finished URL elicitations; what they are for is known above", async () => {
    const { client, transport, events } = await connectLegacy();
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/elicitation/complete",
      params: { elicitationId: "e" },
    });
    expect(events).toContainEqual({ type: "elicitation.completed", elicitationId: "e" });
    await client.close();
  });
});

describe("a modern server", () => {
  it("may ask nothing: its requests are counted, dropped and never answered [STDIO-04] [STDIO-05] [HTTP-37]", async () => {
    const { client, transport } = await connectModern(() => undefined, { inputs: accept });
    const before = transport.sent.length;
    transport.arrive(form(1));
    transport.arrive({ jsonrpc: "2.0", id: 2, method: "ping" });
    await settle();
    expect(transport.sent).toHaveLength(before);
    expect(client.oddities()).toEqual({ "request.in-modern-era": 2 });
    await client.close();
  });
});
